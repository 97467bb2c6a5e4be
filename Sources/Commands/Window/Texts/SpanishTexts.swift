extension WindowLanguage {
  /// The texts in Spanish.
  static let spanishTexts: [WindowText: String] = [
    // MARK: Every page

    .title: "Trabajo en el dispositivo {device}",
    .plainTitle: "Trabajo en este dispositivo",
    .language: "Idioma",
    .toContent: "Ir al contenido",
    .lookAgain: "Mirar otra vez",
    .lookedAt: "Comprobado a las {time}.",
    .back: "Volver",
    .noPage: "Esta página no existe",
    .didNotWork: "Eso no funcionó",

    // MARK: The state of the work, in a sentence and a word

    .wordGood: "Bien",
    .wordNotYet: "Todavía no",
    .wordAttention: "Atención",
    .everything: "Todo está en la oficina.",
    .waits: "Una parte de su trabajo todavía no está en la oficina.",
    .underWay: "Su trabajo está en camino. La oficina todavía no lo ha confirmado.",
    .notCertain: "No es seguro que la oficina lo tenga todo.",
    .wrong: "Algo va mal aquí. Lea más abajo qué hacer.",
    .noData: "Todavía no hay datos de la oficina en este dispositivo.",

    // MARK: Sticks

    .sticksHeading: "Memoria USB",
    .syncWith: "Sincronizar con la memoria {name}",
    .free: "{size} libres",
    .noStick: """
    No hay ninguna memoria conectada. Conecte una memoria y ábrala una vez en su gestor de archivos. Esta página \
    vuelve a mirar sola.
    """,
    .stickGone: """
    Esta memoria ya no está conectada, o hay otra en su lugar. No se hizo nada. Mire otra vez y elija una memoria.
    """,
    .stillWorks: "Satchel todavía trabaja con la memoria {name}. Espere hasta que termine.",
    .showWork: "Ver el avance",

    // MARK: A synchronisation while it runs

    .working: "Sincronizando con la memoria {name}",
    .leaveIn: "Deje la memoria conectada. Esta página vuelve a mirar sola.",
    .begun: "Ha comenzado.",
    .asksPassword: "Se espera la contraseña de las claves. Escríbala en la terminal donde se abrió la ventana.",
    .reading: "Lectura",
    .applying: "Escritura de los cambios de otros en la base de datos",
    .collecting: "Recogida de sus cambios",
    .writing: "Empaquetado de sus cambios",
    .testing: "Comprobación del tamaño de la memoria",
    .percent: "{phase}: {percent} %",
    .nothingBegun: "Aquí todavía no se ha iniciado ninguna sincronización.",

    // MARK: The result of a synchronisation

    .done: "Sincronizado con la memoria {name}",
    .notDone: "La sincronización con la memoria {name} no está completa",
    .safe: "Puede retirar la memoria {name}.",
    .notAll: "No se hizo todo. No se ha perdido nada. Lea más abajo, o muestre esta página a la oficina.",
    .rowsCame: "Se escribió aquí {n} fila de la oficina.|Se escribieron aquí {n} filas de la oficina.",
    .rowsWent: "Se quitó aquí {n} fila, como dice la oficina.|Se quitaron aquí {n} filas, como dice la oficina.",
    .filesCame: "Llegó {n} archivo de la oficina.|Llegaron {n} archivos de la oficina.",
    .nothingCame: "La memoria no trae nada nuevo de la oficina.",
    .bundlesWait: """
    {n} paquete de la oficina se guarda aquí y espera.|{n} paquetes de la oficina se guardan aquí y esperan.
    """,
    .changesMet: """
    {n} de sus cambios se encontró con el de otra persona.|{n} de sus cambios se encontraron con los de otras \
    personas.
    """,
    .filesRefused: """
    {n} archivo de la memoria fue rechazado. No cambió nada aquí.|{n} archivos de la memoria fueron rechazados. No \
    cambiaron nada aquí.
    """,
    .workOnStick: "Su trabajo está en la memoria. Llévela a la oficina.",
    .workWasOnStick: "Su trabajo ya estaba en la memoria. Llévela a la oficina.",
    .changesOnStick: "Lleva {n} cambio suyo.|Lleva {n} cambios suyos.",
    .filesOnStick: "Lleva {n} archivo o foto.|Lleva {n} archivos o fotos.",
    .filesDidNotFit: """
    {n} archivo o foto no cabe. Una memoria posterior lo lleva.|{n} archivos o fotos no caben. Una memoria posterior \
    los lleva.
    """,
    .partOnStick: "Una parte de su trabajo está en la memoria. La oficina necesita todas las partes.",
    .nothingToCarry: "No hay nada nuevo que llevar a la oficina.",
    .workNotOnStick: "No se pudo poner su trabajo en la memoria. Está seguro en este dispositivo.",
    .nextStick: """
    {n} parte no cabe en esta memoria. Conecte la siguiente y sincronice otra vez.|{n} partes no caben en esta \
    memoria. Conecte la siguiente y sincronice otra vez.
    """,
    .whyFull: "La memoria está llena. Quite archivos de ella, o use otra memoria.",
    .whyBadStick: "La memoria no conserva lo que se escribe en ella. Use otra memoria.",
    .whyNotMounted: """
    La memoria no está conectada o no está abierta. Conéctela y ábrala una vez en su gestor de archivos.
    """,
    .whyBusy: "Otro programa trabaja con los datos. Guarde su trabajo y ciérrelo, y sincronice otra vez.",
    .whyNoSpace: """
    El disco de este dispositivo está lleno. Borre archivos que no necesite. No borre nada en la carpeta de \
    Satchel.
    """,
    .whyReadOnly: """
    No se puede escribir en la memoria o en el disco de este dispositivo. Mueva el seguro de la memoria, o use otra \
    memoria.
    """,
    .whyPassword: """
    Falta la contraseña de las claves, o no es correcta. Sincronice otra vez y escríbala en la terminal.
    """,
    .whyNewer: """
    La oficina usa un Satchel más nuevo. Primero hay que actualizarlo en este dispositivo. Avise a la oficina.
    """,
    .whyFingerprint: "Este dispositivo todavía no conoce la oficina. Pida a la oficina la orden que debe escribir.",
    .askOffice: "Muestre estas líneas a la oficina.",
    .fullReport: "Informe completo para la oficina, en inglés",

    // MARK: Work that is not at the office

    .lacksHeading: "Lo que no está en la oficina",
    .changesToCarry: "{n} cambio espera una memoria.|{n} cambios esperan una memoria.",
    .changesUnconfirmed: """
    {n} cambio está empaquetado, y la oficina todavía no lo ha confirmado.|{n} cambios están empaquetados, y la \
    oficina todavía no los ha confirmado.
    """,
    .exportsUnconfirmed: """
    {n} paquete todavía no está confirmado por la oficina.|{n} paquetes todavía no están confirmados por la \
    oficina.
    """,
    .decisions: """
    No se sabe si {n} decisión suya está en la oficina.|No se sabe si {n} decisiones suyas están en la oficina.
    """,
    .conflictsToReport: """
    La oficina todavía no sabe que {n} cambio se encontró con otro.|La oficina todavía no sabe que {n} cambios se \
    encontraron con otros.
    """,
    .filesToCarry: "{n} archivo o foto espera una memoria.|{n} archivos o fotos esperan una memoria.",
    .filesUnconfirmed: """
    {n} archivo o foto está empaquetado, y la oficina todavía no lo ha confirmado.|{n} archivos o fotos están \
    empaquetados, y la oficina todavía no los ha confirmado.
    """,
    .filesNotCarriable: """
    {n} archivo o foto no se puede llevar: falta, es demasiado grande o está en mal lugar. Pregunte a la \
    oficina.|{n} archivos o fotos no se pueden llevar: faltan, son demasiado grandes o están en mal lugar. \
    Pregunte a la oficina.
    """,
    .rowsWithoutKey: """
    {n} fila no tiene clave y no se puede llevar. Avise a la oficina.|{n} filas no tienen clave y no se pueden \
    llevar. Avise a la oficina.
    """,
    .formerUser: """
    El trabajo de {n} usuario anterior de este dispositivo espera una memoria.|El trabajo de {n} usuarios \
    anteriores de este dispositivo espera una memoria.
    """,
    .carryAgain: "La oficina perdió {n} paquete. Llévelo otra vez.|La oficina perdió {n} paquetes. Llévelos otra vez.",
    .moreSticks: """
    {n} paquete es más grande que una memoria. Sincronice con la siguiente.|{n} paquetes son más grandes que una \
    memoria. Sincronice con la siguiente.
    """,
    .newKey: """
    {n} clave nueva de este dispositivo todavía no está en la oficina. Sincronice con una memoria.|{n} claves \
    nuevas de este dispositivo todavía no están en la oficina. Sincronice con una memoria.
    """,
    .renewing: "La oficina todavía no ha contestado a este dispositivo con su nuevo nombre. Siga trabajando.",

    // MARK: Contact with the office

    .contactHeading: "Contacto con la oficina",
    .lastSync: "Última sincronización",
    .lastNews: "Últimas noticias de la oficina",
    .lastConfirmed: "Su trabajo confirmado por la oficina",
    .never: "nunca",
    .justNow: "ahora mismo",
    .minutesAgo: "hace {n} minuto|hace {n} minutos",
    .hoursAgo: "hace {n} hora|hace {n} horas",
    .daysAgo: "hace {n} día|hace {n} días",

    // MARK: Changes that met other changes

    .conflictsHeading: "Cambios que se encontraron con otros: {n}",
    .conflictsWords: """
    Usted y otra persona cambiaron lo mismo. Se guardan los dos valores. Diga a la oficina cuál es el correcto.
    """,
    .heldChanges: """
    {n} cambio espera otra cosa en la oficina. Normalmente no hay nada que hacer.|{n} cambios esperan otra cosa en \
    la oficina. Normalmente no hay nada que hacer.
    """,
    .more: "Y {n} más.",
    .columnField: "Qué",
    .columnBefore: "Antes",
    .columnOffice: "En la oficina",
    .columnDevice: "En este dispositivo",
    .noValue: "(vacío)",
    .bothChanged: "Los dos lados cambiaron el mismo valor.",
    .deletedHere: "Usted lo borró, y otra persona lo cambió.",
    .deletedThere: "Usted lo cambió, y otra persona lo borró.",
    .bothMade: "Los dos lados crearon una fila con la misma clave.",
    .valueTaken: "Otra fila tiene un valor que solo puede tener una fila.",
    .rowMissing: "Falta una fila relacionada, o todavía se necesita.",
    .notAllowed: "La base de datos no permite una fila así.",
    .notYours: "Usted no puede hacer este cambio.",
    .notSeen: "La fila ya no pertenece a su zona.",
    .notRecorded: "Un programa cambió la fila, y Satchel no lo registró.",
    .unitBroken: "Un cambio relacionado no se pudo aceptar.",

    // MARK: Problems and their ways out

    .problemsHeading: "Lo que necesita atención",
    .statusFailed: """
    Satchel no puede leer ahora el estado de este dispositivo. Si otro programa trabaja con los datos, guarde y \
    ciérrelo. Luego mire otra vez. Si sigue así, avise a la oficina.
    """,
    .isFirst: """
    Conecte la memoria de la oficina y sincronice. Si este dispositivo trae sus propios datos, la oficina le da \
    una orden para escribir.
    """,
    .replacedFile: """
    Otro programa puso un archivo nuevo en lugar de los datos. No siga trabajando. Avise a la oficina: debe volver \
    el archivo anterior, o satchel doctor adopta el nuevo.
    """,
    .lostFile: """
    El archivo de los datos ha desaparecido. ¿Está su tarjeta o disco en este dispositivo? Póngalo y mire otra \
    vez. Si no, avise a la oficina: satchel doctor --repair lo rehace con lo empaquetado.
    """,
    .damagedFile: """
    Los datos están dañados. Cierre la aplicación y no borre nada. Sincronice con la próxima memoria de la \
    oficina: rehace los datos.
    """,
    .onTablet: """
    Los datos están en una tableta. Conecte la tableta y acóplela (satchel dock). Esta página puede llevar lo que \
    se acopló antes.
    """,
    .notCaptured: """
    Un programa cambió las tablas, y parte de su trabajo puede no estar registrada. Avise a la oficina: satchel \
    doctor la muestra, y satchel doctor --repair la registra.
    """,
    .badTrigger: """
    Una parte de la aplicación impide todo intercambio con la oficina. Avise a la oficina y al autor de la \
    aplicación.
    """,
    .otherHistory: """
    La oficina volvió a un estado anterior, o hay dos oficinas. No se ha perdido nada. Siga con el trabajo y las \
    memorias, y avise a la oficina.
    """,
    .appWrites: """
    Otro programa escribe ahora en los datos. Sus últimos cambios no se cuentan aquí. Guarde allí su trabajo y \
    mire otra vez.
    """,
    .stagedBundles: """
    {n} paquete de la oficina espera ser aplicado: satchel apply. Pregunte a la oficina.|{n} paquetes de la \
    oficina esperan ser aplicados: satchel apply. Pregunte a la oficina.
    """,
    .stuckBundles: """
    {n} paquete de la oficina no se pudo aplicar. A menudo hay que actualizar antes la aplicación. Siga trabajando \
    y avise a la oficina.|{n} paquetes de la oficina no se pudieron aplicar. A menudo hay que actualizar antes la \
    aplicación. Siga trabajando y avise a la oficina.
    """,
    .failedBundles: """
    {n} paquete de la oficina no se aceptó aquí. Avise a la oficina.|{n} paquetes de la oficina no se aceptaron \
    aquí. Avise a la oficina.
    """,
    .refusedFiles: """
    {n} archivo de las memorias fue rechazado y apartado. No cambió nada. Avise a la oficina.|{n} archivos de las \
    memorias fueron rechazados y apartados. No cambiaron nada. Avise a la oficina.
    """,
    .incompleteBundles: """
    {n} paquete de la oficina no está completo. Las otras memorias traen el resto.|{n} paquetes de la oficina no \
    están completos. Las otras memorias traen el resto.
    """,
    .filesMissing: """
    Falta {n} archivo o foto en este dispositivo. Si lo tiene, vuelva a ponerlo. Si es de otros, otra memoria lo \
    trae.|Faltan {n} archivos o fotos en este dispositivo. Si los tiene, vuelva a ponerlos. Si son de otros, otra \
    memoria los trae.
    """,
    .filesHeading: "Archivos y fotos que le necesitan",
    .fileMissing: "{name}: no está en este dispositivo. Si lo tiene, vuelva a ponerlo.",
    .fileBlocked: "{name}: hay una carpeta o un enlace en su lugar. Quítelo.",
    .filePath: "{name}: su nombre no se puede llevar. Dele otro nombre.",
    .fileLarge: "{name}: es demasiado grande para llevarlo. Hágalo más pequeño.",
    .diskFull: """
    El disco de este dispositivo está casi lleno. Borre archivos que no necesite. No borre nada en la carpeta de \
    Satchel.
    """,
    .longSilence: """
    No ha llegado nada de la oficina desde hace {n} día. Pida una memoria.|No ha llegado nada de la oficina desde \
    hace {n} días. Pida una memoria.
    """,
    .wrongClock: "El reloj de este dispositivo puede estar mal. Póngalo en hora. Si está bien, avise a la oficina.",
    .fewKeys: "Quedan pocos números para filas nuevas. Sincronice pronto con la oficina.",
    .otherWarning: "Satchel tiene una advertencia. Muestre los datos de abajo a la oficina.",
    .onlyHere: "Estas tablas se quedan en este dispositivo, y la oficina no las recibe: {names}.",
    .allFacts: "Todos los datos para la oficina, en inglés",

    // MARK: Requests that are refused

    .refused: "Rechazado",
    .noSession: """
    Abra la dirección que muestra satchel window. Funciona una vez. Para otro navegador, abra la ventana otra vez.
    """,
    .usedToken: "Esta dirección ya se usó. Inicie satchel window otra vez.",
    .otherAddress: "Esta ventana tiene una sola dirección, y está en esta máquina.",
    .badMethod: "La ventana no conoce este método.",
    .foreignForm: "Este formulario no viene de las páginas de esta ventana.",
  ]
}
