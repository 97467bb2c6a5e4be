import Glibc
import SatchelCommands

exit(runDeviceTool())
