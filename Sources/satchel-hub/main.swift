import SatchelCommands

hubToolMain()
