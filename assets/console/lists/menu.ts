import { make } from '../dom.ts';

/** An entry of a menu: an act, or a link. */
export interface MenuItem {
  readonly label: string;
  readonly act?: () => void;
  readonly href?: string | undefined;
}

/** A button that opens a menu below it; arrows walk it, Escape and a press elsewhere close it. */
export function menuButton(
  attributes: Readonly<Record<string, string>>,
  text: string,
  items: () => readonly MenuItem[],
): HTMLButtonElement {
  const button = make('button', { type: 'button', 'aria-haspopup': 'menu', ...attributes }, text);
  button.addEventListener('click', () => openMenu(button, items()));
  return button;
}

function openMenu(button: HTMLElement, items: readonly MenuItem[]): void {
  const menu = make('div', { class: 'menu', role: 'menu', popover: '', 'aria-label': nameOf(button) });
  menu.append(...items.map((item) => entryOf(item, () => menu.hidePopover())));
  menu.addEventListener('toggle', (event) => {
    if ((event as ToggleEvent).newState === 'open') return;
    if (menu.contains(document.activeElement) || document.activeElement === document.body) button.focus();
    menu.remove();
  });
  menu.addEventListener('keydown', (event) => {
    const entries = [...menu.children] as HTMLElement[];
    const next = stepOf(event.key, entries.indexOf(document.activeElement as HTMLElement), entries.length);
    if (event.key === 'Tab') menu.hidePopover();
    if (next === undefined) return;
    event.preventDefault();
    entries[next]?.focus();
  });
  button.after(menu);
  menu.showPopover();
  placeBelow(menu, button);
  (menu.firstElementChild as HTMLElement | null)?.focus();
}

function entryOf({ label, act, href }: MenuItem, close: () => void): HTMLElement {
  if (href !== undefined)
    return make('a', { role: 'menuitem', tabindex: '-1', href, target: '_blank', rel: 'noopener noreferrer' }, label);
  const entry = make('button', { type: 'button', role: 'menuitem', tabindex: '-1' }, label);
  entry.addEventListener('click', () => {
    close();
    act?.();
  });
  return entry;
}

/** The place to which a key leads among so many, if it leads anywhere. */
export function stepOf(key: string, at: number, count: number): number | undefined {
  if (key === 'ArrowDown') return Math.min(at + 1, count - 1);
  if (key === 'ArrowUp') return Math.max(at - 1, 0);
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  return undefined;
}

function nameOf(button: HTMLElement): string {
  return button.getAttribute('aria-label') ?? button.textContent ?? '';
}

/** Below the button and within the window. */
function placeBelow(menu: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const top = at.bottom + height + 8 > innerHeight ? at.top - height - 4 : at.bottom + 4;
  menu.style.top = `${Math.max(8, top)}px`;
  menu.style.left = `${Math.max(8, Math.min(at.right - width, innerWidth - width - 8))}px`;
}
