{# The menu and the search of narrow windows, for those who use a keyboard: buttons that open what the theme's
   two check boxes stand for, and a focus that follows. #}
{
  const pane = document.querySelector(".md-sidebar--primary");
  const field = document.querySelector(".md-search__input");
  const enter = () => [...pane.querySelectorAll("a, label")].find(
    e => e.tabIndex == 0 && e.checkVisibility({visibilityProperty: true}))?.focus();
  for (const button of document.querySelectorAll("button[data-opens]")) {
    const box = document.getElementById(button.dataset.opens);
    const drawer = box.id == "__drawer";
    button.onclick = () => box.click();
    box.addEventListener("change", () => {
      button.ariaExpanded = box.checked;
      if (!drawer) return;
      if (box.checked) enter();
      else if (pane.contains(document.activeElement) || document.activeElement == document.body) button.focus();
    });
    if (!drawer) field.addEventListener("keydown", e => { if (e.key == "Escape") setTimeout(() => button.focus()); });
    else if (pane) {
      for (const back of pane.querySelectorAll("nav nav > .md-nav__title, label[for=__toc]")) back.tabIndex = 0;
      pane.addEventListener("change", () => box.checked && enter()); // from list to list
      document.addEventListener("keydown", e => {
        if (e.key == "Escape" && box.checked) box.click();
      });
      pane.addEventListener("keydown", e => {
        if (e.key == " " && e.target.matches("label")) { e.preventDefault(); e.target.click(); }
      });
      // Whoever tabs out of the open menu leaves it.
      pane.addEventListener("focusout", e => {
        if (box.checked && e.relatedTarget && !pane.contains(e.relatedTarget)) box.click();
      });
    }
  }
  const narrow = matchMedia("(max-width: 59.984375em)");
  // The button stands for the closed field; the theme's own keys may still put the focus there.
  if (field) (narrow.onchange = () => { field.tabIndex = narrow.matches ? -1 : 0; })();
}
