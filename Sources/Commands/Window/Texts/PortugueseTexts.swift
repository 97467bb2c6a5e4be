extension WindowLanguage {
  /// The texts in Portuguese.
  static let portugueseTexts: [WindowText: String] = [
    // MARK: Every page

    .title: "Trabalho no dispositivo {device}",
    .plainTitle: "Trabalho neste dispositivo",
    .language: "Idioma",
    .toContent: "Ir para o conteúdo",
    .lookAgain: "Ver de novo",
    .lookedAt: "Verificado às {time}.",
    .back: "Voltar",
    .noPage: "Esta página não existe",
    .didNotWork: "Isso não funcionou",

    // MARK: The state of the work, in a sentence and a word

    .wordGood: "Bem",
    .wordNotYet: "Ainda não",
    .wordAttention: "Atenção",
    .everything: "Tudo está no escritório.",
    .waits: "Uma parte do seu trabalho ainda não está no escritório.",
    .underWay: "O seu trabalho está a caminho. O escritório ainda não o confirmou.",
    .notCertain: "Não é certo que o escritório tenha tudo.",
    .wrong: "Algo está errado aqui. Leia abaixo o que fazer.",
    .noData: "Ainda não há dados do escritório neste dispositivo.",

    // MARK: Sticks

    .sticksHeading: "Memória USB",
    .syncWith: "Sincronizar com a memória {name}",
    .free: "{size} livres",
    .noStick: """
    Nenhuma memória está ligada. Ligue uma memória e abra-a uma vez no seu gestor de ficheiros. Esta página volta \
    a verificar sozinha.
    """,
    .stickGone: """
    Esta memória já não está ligada, ou outra está no seu lugar. Nada foi feito. Veja de novo e escolha uma \
    memória.
    """,
    .stillWorks: "O Satchel ainda trabalha com a memória {name}. Espere até terminar.",
    .showWork: "Ver o andamento",

    // MARK: A synchronisation while it runs

    .working: "A sincronizar com a memória {name}",
    .leaveIn: "Deixe a memória ligada. Esta página volta a verificar sozinha.",
    .begun: "Começou.",
    .asksPassword: "Falta a palavra-passe das chaves. Escreva-a no terminal onde a janela foi iniciada.",
    .reading: "Leitura",
    .applying: "Escrita das alterações de outros na base de dados",
    .collecting: "Recolha das suas alterações",
    .writing: "Empacotamento das suas alterações",
    .testing: "Verificação do tamanho da memória",
    .percent: "{phase}: {percent} %",
    .nothingBegun: "Ainda não foi iniciada nenhuma sincronização aqui.",

    // MARK: The result of a synchronisation

    .done: "Sincronizado com a memória {name}",
    .notDone: "A sincronização com a memória {name} não está completa",
    .safe: "Pode retirar a memória {name}.",
    .notAll: "Nem tudo foi feito. Nada se perdeu. Leia abaixo, ou mostre esta página ao escritório.",
    .rowsCame: "{n} linha do escritório foi escrita aqui.|{n} linhas do escritório foram escritas aqui.",
    .rowsWent: """
    {n} linha foi removida aqui, como diz o escritório.|{n} linhas foram removidas aqui, como diz o escritório.
    """,
    .filesCame: "Chegou {n} ficheiro do escritório.|Chegaram {n} ficheiros do escritório.",
    .nothingCame: "A memória não traz nada de novo do escritório.",
    .bundlesWait: """
    {n} pacote do escritório está guardado aqui e espera.|{n} pacotes do escritório estão guardados aqui e \
    esperam.
    """,
    .changesMet: """
    {n} das suas alterações encontrou a de outra pessoa.|{n} das suas alterações encontraram as de outras pessoas.
    """,
    .filesRefused: """
    {n} ficheiro da memória foi recusado. Não alterou nada aqui.|{n} ficheiros da memória foram recusados. Não \
    alteraram nada aqui.
    """,
    .workOnStick: "O seu trabalho está na memória. Leve-a ao escritório.",
    .workWasOnStick: "O seu trabalho já estava na memória. Leve-a ao escritório.",
    .changesOnStick: "Leva {n} alteração sua.|Leva {n} alterações suas.",
    .filesOnStick: "Leva {n} ficheiro ou fotografia.|Leva {n} ficheiros ou fotografias.",
    .filesDidNotFit: """
    {n} ficheiro ou fotografia não cabe. Uma memória posterior leva-o.|{n} ficheiros ou fotografias não cabem. Uma \
    memória posterior leva-os.
    """,
    .partOnStick: "Uma parte do seu trabalho está na memória. O escritório precisa de todas as partes.",
    .nothingToCarry: "Não há nada de novo para levar ao escritório.",
    .workNotOnStick: "Não foi possível pôr o seu trabalho na memória. Está seguro neste dispositivo.",
    .nextStick: """
    {n} parte não cabe nesta memória. Ligue a seguinte e sincronize de novo.|{n} partes não cabem nesta memória. \
    Ligue a seguinte e sincronize de novo.
    """,
    .whyFull: "A memória está cheia. Tire ficheiros dela, ou use outra memória.",
    .whyBadStick: "A memória não guarda o que se escreve nela. Use outra memória.",
    .whyNotMounted: """
    A memória não está ligada ou não está aberta. Ligue-a e abra-a uma vez no seu gestor de ficheiros.
    """,
    .whyBusy: "Outro programa trabalha com os dados. Guarde o seu trabalho, feche-o e sincronize de novo.",
    .whyNoSpace: """
    O disco deste dispositivo está cheio. Apague ficheiros de que não precisa. Não apague nada na pasta do \
    Satchel.
    """,
    .whyReadOnly: """
    Não se pode escrever na memória ou no disco deste dispositivo. Mova a patilha da memória, ou use outra memória.
    """,
    .whyPassword: "A palavra-passe das chaves falta ou está errada. Sincronize de novo e escreva-a no terminal.",
    .whyNewer: """
    O escritório usa um Satchel mais novo. Primeiro é preciso atualizá-lo neste dispositivo. Informe o escritório.
    """,
    .whyFingerprint: "Este dispositivo ainda não conhece o escritório. Peça ao escritório o comando que deve escrever.",
    .askOffice: "Mostre estas linhas ao escritório.",
    .fullReport: "Relatório completo para o escritório, em inglês",

    // MARK: Work that is not at the office

    .lacksHeading: "O que não está no escritório",
    .changesToCarry: "{n} alteração espera por uma memória.|{n} alterações esperam por uma memória.",
    .changesUnconfirmed: """
    {n} alteração está empacotada, e o escritório ainda não a confirmou.|{n} alterações estão empacotadas, e o \
    escritório ainda não as confirmou.
    """,
    .exportsUnconfirmed: """
    {n} pacote ainda não foi confirmado pelo escritório.|{n} pacotes ainda não foram confirmados pelo escritório.
    """,
    .decisions: """
    Não se sabe se {n} decisão sua está no escritório.|Não se sabe se {n} decisões suas estão no escritório.
    """,
    .conflictsToReport: """
    O escritório ainda não sabe que {n} alteração encontrou outra.|O escritório ainda não sabe que {n} alterações \
    encontraram outras.
    """,
    .filesToCarry: "{n} ficheiro ou foto espera por uma memória.|{n} ficheiros ou fotos esperam por uma memória.",
    .filesUnconfirmed: """
    {n} ficheiro ou foto está empacotado, e o escritório ainda não o confirmou.|{n} ficheiros ou fotos estão \
    empacotados, e o escritório ainda não os confirmou.
    """,
    .filesNotCarriable: """
    {n} ficheiro ou foto não pode ser levado: falta, é demasiado grande ou está no lugar errado. Pergunte ao \
    escritório.|{n} ficheiros ou fotos não podem ser levados: faltam, são demasiado grandes ou estão no lugar \
    errado. Pergunte ao escritório.
    """,
    .rowsWithoutKey: """
    {n} linha não tem chave e não pode ser levada. Avise o escritório.|{n} linhas não têm chave e não podem ser \
    levadas. Avise o escritório.
    """,
    .formerUser: """
    O trabalho de {n} utilizador anterior deste dispositivo espera por uma memória.|O trabalho de {n} utilizadores \
    anteriores deste dispositivo espera por uma memória.
    """,
    .carryAgain: """
    O escritório perdeu {n} pacote. Leve-o outra vez.|O escritório perdeu {n} pacotes. Leve-os outra vez.
    """,
    .moreSticks: """
    {n} pacote é maior do que uma memória. Sincronize com a seguinte.|{n} pacotes são maiores do que uma memória. \
    Sincronize com a seguinte.
    """,
    .newKey: """
    {n} chave nova deste dispositivo ainda não está no escritório. Sincronize com uma memória.|{n} chaves novas \
    deste dispositivo ainda não estão no escritório. Sincronize com uma memória.
    """,
    .renewing: "O escritório ainda não respondeu a este dispositivo com o seu novo nome. Continue a trabalhar.",

    // MARK: Contact with the office

    .contactHeading: "Contacto com o escritório",
    .lastSync: "Última sincronização",
    .lastNews: "Últimas notícias do escritório",
    .lastConfirmed: "O seu trabalho confirmado pelo escritório",
    .never: "nunca",
    .justNow: "agora mesmo",
    .minutesAgo: "há {n} minuto|há {n} minutos",
    .hoursAgo: "há {n} hora|há {n} horas",
    .daysAgo: "há {n} dia|há {n} dias",

    // MARK: Changes that met other changes

    .conflictsHeading: "Alterações que encontraram outras: {n}",
    .conflictsWords: """
    Você e outra pessoa alteraram a mesma coisa. Os dois valores são guardados. Diga ao escritório qual é o certo.
    """,
    .heldChanges: """
    {n} alteração espera outra coisa no escritório. Normalmente não há nada a fazer.|{n} alterações esperam outra \
    coisa no escritório. Normalmente não há nada a fazer.
    """,
    .more: "E mais {n}.",
    .columnField: "O quê",
    .columnBefore: "Antes",
    .columnOffice: "No escritório",
    .columnDevice: "Neste dispositivo",
    .noValue: "(vazio)",
    .bothChanged: "Os dois lados alteraram o mesmo valor.",
    .deletedHere: "Você apagou-o, e outra pessoa alterou-o.",
    .deletedThere: "Você alterou-o, e outra pessoa apagou-o.",
    .bothMade: "Os dois lados criaram uma linha com a mesma chave.",
    .valueTaken: "Outra linha tem um valor que só uma linha pode ter.",
    .rowMissing: "Falta uma linha relacionada, ou ainda é necessária.",
    .notAllowed: "A base de dados não permite uma linha assim.",
    .notYours: "Você não pode fazer esta alteração.",
    .notSeen: "A linha já não pertence à sua zona.",
    .notRecorded: "Um programa alterou a linha, e o Satchel não o registou.",
    .unitBroken: "Uma alteração relacionada não pôde ser aceite.",

    // MARK: Problems and their ways out

    .problemsHeading: "O que precisa de atenção",
    .statusFailed: """
    O Satchel não consegue ler agora o estado deste dispositivo. Se outro programa trabalha com os dados, guarde e \
    feche-o. Depois veja de novo. Se continuar, avise o escritório.
    """,
    .isFirst: """
    Ligue a memória do escritório e sincronize. Se este dispositivo traz os seus próprios dados, o escritório \
    dá-lhe um comando para escrever.
    """,
    .replacedFile: """
    Outro programa pôs um ficheiro novo no lugar dos dados. Não continue. Avise o escritório: o ficheiro antigo \
    deve voltar, ou satchel doctor adota o novo.
    """,
    .lostFile: """
    O ficheiro dos dados desapareceu. O seu cartão ou disco está neste dispositivo? Ponha-o e veja de novo. Se \
    não, avise o escritório: satchel doctor --repair refaz o ficheiro com o que foi empacotado.
    """,
    .damagedFile: """
    Os dados estão danificados. Feche a aplicação e não apague nada. Sincronize com a próxima memória do \
    escritório: ela refaz os dados.
    """,
    .onTablet: """
    Os dados estão num tablet. Ligue o tablet e acople-o (satchel dock). Esta página pode levar o que foi acoplado \
    antes.
    """,
    .notCaptured: """
    Um programa alterou as tabelas, e parte do seu trabalho pode não estar registada. Avise o escritório: satchel \
    doctor mostra-a, e satchel doctor --repair regista-a.
    """,
    .badTrigger: """
    Uma parte da aplicação impede qualquer troca com o escritório. Avise o escritório e o autor da aplicação.
    """,
    .otherHistory: """
    O escritório voltou a um estado antigo, ou há dois escritórios. Nada se perdeu. Continue o trabalho e as \
    memórias, e avise o escritório.
    """,
    .appWrites: """
    Outro programa escreve agora nos dados. As suas últimas alterações não são contadas aqui. Guarde lá o seu \
    trabalho e veja de novo.
    """,
    .stagedBundles: """
    {n} pacote do escritório espera ser aplicado: satchel apply. Pergunte ao escritório.|{n} pacotes do escritório \
    esperam ser aplicados: satchel apply. Pergunte ao escritório.
    """,
    .stuckBundles: """
    {n} pacote do escritório não pôde ser aplicado. Muitas vezes é preciso atualizar antes a aplicação. Continue e \
    avise o escritório.|{n} pacotes do escritório não puderam ser aplicados. Muitas vezes é preciso atualizar \
    antes a aplicação. Continue e avise o escritório.
    """,
    .failedBundles: """
    {n} pacote do escritório não foi aceite aqui. Avise o escritório.|{n} pacotes do escritório não foram aceites \
    aqui. Avise o escritório.
    """,
    .refusedFiles: """
    {n} ficheiro das memórias foi recusado e posto de lado. Não alterou nada. Avise o escritório.|{n} ficheiros \
    das memórias foram recusados e postos de lado. Não alteraram nada. Avise o escritório.
    """,
    .incompleteBundles: """
    {n} pacote do escritório não está completo. As outras memórias trazem o resto.|{n} pacotes do escritório não \
    estão completos. As outras memórias trazem o resto.
    """,
    .filesMissing: """
    Falta {n} ficheiro ou foto neste dispositivo. Se o tem, ponha-o de volta. Se é de outros, outra memória o \
    traz.|Faltam {n} ficheiros ou fotos neste dispositivo. Se os tem, ponha-os de volta. Se são de outros, outra \
    memória os traz.
    """,
    .filesHeading: "Ficheiros e fotografias que precisam de si",
    .fileMissing: "{name}: não está neste dispositivo. Se o tem, volte a pô-lo.",
    .fileBlocked: "{name}: há uma pasta ou uma ligação no seu lugar. Tire-a.",
    .filePath: "{name}: o seu nome não se pode levar. Dê-lhe outro nome.",
    .fileLarge: "{name}: é demasiado grande para levar. Torne-o mais pequeno.",
    .diskFull: """
    O disco deste dispositivo está quase cheio. Apague ficheiros de que não precisa. Não apague nada na pasta do \
    Satchel.
    """,
    .longSilence: """
    Nada chegou do escritório há {n} dia. Peça uma memória.|Nada chegou do escritório há {n} dias. Peça uma \
    memória.
    """,
    .wrongClock: "O relógio deste dispositivo pode estar errado. Acerte-o. Se está certo, avise o escritório.",
    .fewKeys: "Restam poucos números para novas linhas. Sincronize em breve com o escritório.",
    .otherWarning: "O Satchel tem um aviso. Mostre os factos abaixo ao escritório.",
    .onlyHere: "Estas tabelas ficam neste dispositivo, e o escritório não as recebe: {names}.",
    .allFacts: "Todos os factos para o escritório, em inglês",

    // MARK: Requests that are refused

    .refused: "Recusado",
    .noSession: """
    Abra o endereço que satchel window mostra. Funciona uma vez. Para outro navegador, inicie a janela de novo.
    """,
    .usedToken: "Este endereço já foi usado. Inicie satchel window de novo.",
    .otherAddress: "Esta janela tem um só endereço, e está nesta máquina.",
    .badMethod: "A janela não conhece este método.",
    .foreignForm: "Este formulário não vem das páginas desta janela.",
  ]
}
