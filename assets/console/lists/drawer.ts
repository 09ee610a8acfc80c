import { explain } from '../answer.ts';
import { make, say } from '../dom.ts';
import { copyTo } from './copy.ts';
import { stepOf } from './menu.ts';

/** The content of a drawer: facts for people, and the answer that they are from. */
export interface DrawerContent {
  readonly title: string;
  readonly details: Node;
  readonly json: unknown;
}

/** The panel beside a list in which one row is shown. */
export interface Drawer {
  /** Opens it, or fills it anew. `onClose` is called once it is closed. */
  show(content: Promise<DrawerContent>, onClose?: () => void): void;
  close(): void;
}

/** Creates the drawer: a dialog, so the keyboard stays in it, Escape closes it, and the focus goes back. */
export function createDrawer(): Drawer {
  const title = make('h2', { id: 'drawer-title', tabindex: '-1' });
  const close = make('button', { type: 'button', id: 'drawer-close' }, 'Close');
  const body = make('div', { class: 'drawer-body' });
  const dialog = make(
    'dialog',
    { id: 'drawer', 'aria-labelledby': 'drawer-title' },
    make('div', { class: 'drawer-head' }, title, close),
    body,
  );
  document.body.append(dialog);
  addEventListener('hashchange', () => dialog.close());
  let run = 0;
  let closed: (() => void) | undefined;
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close();
  });
  dialog.addEventListener('close', () => {
    // The event comes late: by then the drawer may show another row.
    if (dialog.open) return;
    run++;
    body.replaceChildren();
    closed?.();
  });
  return {
    show(content, onClose) {
      closed = onClose ?? closed;
      const own = ++run;
      if (!dialog.open) {
        say(title, 'Loading…');
        body.replaceChildren(make('p', { class: 'skeleton' }), make('p', { class: 'skeleton' }));
        dialog.showModal();
        title.focus();
      }
      content.then(
        (loaded) => {
          if (own !== run) return;
          say(title, loaded.title);
          body.replaceChildren(...tabsOf(loaded));
        },
        (error) => {
          if (own !== run) return;
          say(title, 'Not loaded');
          body.replaceChildren(make('p', { class: 'failure', role: 'alert' }, explain(error)));
        },
      );
    },
    close: () => dialog.close(),
  };
}

/** Two tabs: the facts, and the answer as JSON. */
function tabsOf({ details, json }: DrawerContent): HTMLElement[] {
  const text = JSON.stringify(json, null, 2);
  const copy = make('button', { type: 'button', class: 'small' }, 'Copy JSON');
  copy.addEventListener('click', () => void copyTo(copy, text));
  const contents: readonly (readonly [string, Node])[] = [
    ['Details', details],
    ['JSON', make('div', { class: 'json' }, copy, make('pre', { tabindex: '0', 'aria-label': 'JSON' }, text))],
  ];
  const tabs = contents.map(([name], i) =>
    make('button', { type: 'button', role: 'tab', id: `drawer-tab-${i}`, 'aria-controls': `drawer-part-${i}` }, name),
  );
  const panels = contents.map(([, part], i) =>
    make('div', { role: 'tabpanel', id: `drawer-part-${i}`, 'aria-labelledby': `drawer-tab-${i}` }, part),
  );
  const choose = (chosen: number): void => {
    for (const [i, tab] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
      (panels[i] as HTMLElement).hidden = i !== chosen;
    }
  };
  for (const [i, tab] of tabs.entries()) {
    tab.addEventListener('click', () => choose(i));
    tab.addEventListener('keydown', (event) => {
      const key = { ArrowRight: 'ArrowDown', ArrowLeft: 'ArrowUp' }[event.key] ?? event.key;
      const next = stepOf(key, i, tabs.length);
      if (next === undefined || event.key === 'ArrowDown' || event.key === 'ArrowUp') return;
      event.preventDefault();
      choose(next);
      tabs[next]?.focus();
    });
  }
  choose(0);
  return [make('div', { role: 'tablist', class: 'tabs', 'aria-label': 'How it is shown' }, ...tabs), ...panels];
}
