/// The script of the console's pages. It only makes forms more convenient: every page works without it.
///
/// - If a person types a value, the script chooses it.
/// - The button for many conflicts shows the number of chosen conflicts. One box chooses all conflicts of the page.
/// - On a page with a form for files, a person can drop files anywhere.
/// - A person can type text in the field of a filter. The script hides the rows of the page without this text.
enum ConsoleScript {
  static let text = """
    "use strict";
    document.addEventListener("input", event => {
      const field = event.target;
      if (field.dataset.own && field.value) document.getElementById(field.dataset.own).checked = true;
      if (field.dataset.live !== undefined) {
        const words = field.value.toLowerCase();
        for (const row of document.querySelectorAll("tbody tr")) {
          row.hidden = !row.textContent.toLowerCase().includes(words);
        }
      }
    });
    const drop = document.querySelector("form[data-drop] input[type=file]");
    if (drop) {
      document.addEventListener("dragover", event => event.preventDefault());
      document.addEventListener("drop", event => {
        event.preventDefault();
        if (event.dataTransfer.files.length) drop.files = event.dataTransfer.files;
        drop.focus();
      });
    }
    const many = document.getElementById("many");
    if (many) {
      const boxes = [...many.querySelectorAll("input[name=id]")];
      const button = many.querySelector("[data-chosen]");
      const words = button.textContent;
      const every = document.createElement("input");
      every.type = "checkbox";
      every.setAttribute("aria-label", "Choose all conflicts of this page");
      many.querySelector("thead th").replaceChildren(every);
      const show = () => {
        const count = boxes.filter(box => box.checked).length;
        button.textContent = count ? words.replace("the chosen", "these " + count) : words;
        every.checked = count === boxes.length;
      };
      every.addEventListener("change", () => {
        for (const box of boxes) box.checked = every.checked && !box.closest("tr").hidden;
        show();
      });
      many.addEventListener("change", show);
      show();
    }
    """
}
