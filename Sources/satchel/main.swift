import SatchelCommands
import SatchelWeb

deviceToolMain(webServer: LoopbackServer())
