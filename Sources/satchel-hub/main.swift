import Glibc
import SatchelCommands

exit(runHubTool())
