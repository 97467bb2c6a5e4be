import SatchelPlatform

/// Answers of pages for browsers on this machine.
extension WebResponse {
  static func page(_ page: Page, status: Int = 200) -> WebResponse {
    WebResponse(
      status: status,
      headers: [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Security-Policy", page.style.policy + "; frame-ancestors 'none'"),
      ], body: Array(page.markup.text.utf8))
  }

  /// An answer that is no page, such as a picture. If a browser showed it as a page, nothing in it would be run.
  static func bytes(_ bytes: [UInt8], type: String) -> WebResponse {
    WebResponse(status: 200, headers: [("Content-Type", type), noPage], body: bytes)
  }

  private static let noPage = ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")

  /// Redirects after a completed action, so that a reload of the page does not repeat the action.
  static func seeOther(_ address: String) -> WebResponse {
    WebResponse(status: 303, headers: [("Location", address), noPage], body: [])
  }

  /// The answer to a request that is not admitted. The connection ends after it.
  static func refusal(
    _ refusal: GateRefusal, title: String, _ words: String, language: WindowLanguage = .english
  ) -> WebResponse {
    var response = page(
      Page(
        title: title, content: "<p class=\"warning\">\(words)</p>", language: language.code,
        direction: language.direction), status: refusal.status)
    response.headers.append(("Connection", "close"))
    return response
  }

  /// This answer with the headers that every answer has.
  var sealed: WebResponse {
    var response = self
    response.headers += [
      ("X-Frame-Options", "DENY"),
      ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"), ("Cache-Control", "no-store"),
    ]
    return response
  }
}
