import SatchelCommands

deviceToolMain()
