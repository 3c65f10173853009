// The theme, light or dark: that of the system until the user switches; always light on paper.

const kDark = '(prefers-color-scheme: dark)';

/** Keeps `store.state.theme` ('light' or 'dark') and the page's attribute in step. @returns {{toggle: () => void}} */
export function follow_theme(store) {
  const dark = matchMedia(kDark);
  const print = matchMedia('print');
  let chosen = null;
  const apply = () => {
    const theme = print.matches ? 'light' : chosen ?? (dark.matches ? 'dark' : 'light');
    document.documentElement.dataset.theme = theme;  // set before the listeners run, which read the colours
    store.set({ theme });
  };
  dark.addEventListener('change', apply);
  print.addEventListener('change', apply);
  apply();
  return {
    toggle() {
      chosen = store.state.theme === 'dark' ? 'light' : 'dark';
      apply();
    },
  };
}
