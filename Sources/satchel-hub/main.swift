import SatchelCommands
import SatchelWeb

hubToolMain(webServer: LoopbackServer())
