const THEMES = ['auto', 'light', 'dark'] as const;

/** Follows the system's theme until the button chooses one; the browser keeps the choice. */
export function createTheme(
  button: HTMLElement,
  storage: Pick<Storage, 'getItem' | 'setItem'> | undefined,
): () => void {
  let theme = THEMES.find((one) => one === storage?.getItem(KEY)) ?? 'auto';
  const show = (): void => {
    document.documentElement.dataset['theme'] = theme;
    button.textContent = { auto: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' }[theme];
  };
  const next = (): void => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
    storage?.setItem(KEY, theme);
    show();
  };
  button.addEventListener('click', next);
  show();
  return next;
}

const KEY = 'vault-console-theme';
