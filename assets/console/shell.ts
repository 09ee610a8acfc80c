import { byId, draw, make, say } from './dom.ts';

/** A view of the console: an entry of the rail, and its content. `views.ts` lists them. */
export interface View {
  /** Its name in the address, `#/name`. Its elements are in `#view-name`, which is made if the page has none. */
  readonly name: string;
  readonly title: string;
  /** The path of a drawing of 24 by 24 units, drawn as a line. */
  readonly icon: string;
  /** The only role that sees its name. Everybody does if absent. */
  readonly whose?: 'for-operators' | 'for-root';
  /** Called when the view is opened, and when its query changes while it is open. */
  readonly open?: (place: Place) => void;
  /** Called after `open`, and while the view is open with every third reading, or with each where it `isQuick`. */
  readonly refresh?: () => Promise<void>;
  readonly isQuick?: boolean;
}

/** An open view's part of the page. */
export interface Place {
  /** The view's own element, below its title. */
  readonly body: HTMLElement;
  /** The query behind `?` in the address, `#/name?status=failed`. */
  readonly query: URLSearchParams;
  /** Puts another query into the address: no new entry in the browser's history, and no call of `open`. */
  setQuery(query: URLSearchParams): void;
}

/** The rail of names and the view that is open, by the address's hash. */
export interface Shell {
  /** Shows the view that the address names, the first one if it names none. */
  start(): void;
  stop(): void;
  /** Opens a view as a press on its name does. */
  go(name: string): void;
  /** Refreshes the open view, if it `isQuick` or a third reading is due. */
  refresh(isDue: boolean): void;
  /** The one line of state beside a view's title. */
  say(name: string, state: string): void;
  /** A count beside a view's name in the rail, and its noun; none for 0. */
  mark(name: string, count: number, what: string): void;
}

/** Creates the rail and a place for each view. */
export function createShell(views: readonly View[]): Shell {
  const rail = byId('rail');
  const built = new Map(views.map((view) => [view.name, build(view)]));
  byId('views').replaceChildren(...[...built.values()].map(({ entry }) => entry));
  let opened: View | undefined;
  let shown = '';

  const placeOf = ({ name }: View, query: string): Place => ({
    body: bodyOf(name),
    query: new URLSearchParams(query),
    setQuery(next) {
      const text = next.toString();
      shown = text === '' ? name : `${name}?${text}`;
      history.replaceState(null, '', `#/${shown}`);
    },
  });
  const show = (): void => {
    const address = location.hash.slice(2);
    const [name = '', query = ''] = address.split(/\?(.*)/s);
    const view = views.find((one) => one.name === name) ?? views[0];
    if (!view || (view === opened && address === shown)) return;
    const isOther = view !== opened;
    opened = view;
    shown = address;
    for (const [one, { body, link }] of built) {
      body.hidden = one !== view.name;
      if (one === view.name) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    document.title = `${view.title} · vault console`;
    setMore(rail, false);
    if (isOther) {
      scrollTo(0, 0);
      // The header stays where it is: nothing is scrolled by the focus.
      built.get(view.name)?.title.focus({ preventScroll: true });
    }
    view.open?.(placeOf(view, query));
    void view.refresh?.();
  };
  const onHash = (): void => {
    if (opened) show();
  };
  addEventListener('hashchange', onHash);
  bindMore(rail);
  byId('skip').addEventListener('click', (event) => {
    event.preventDefault();
    built.get(opened?.name ?? '')?.title.focus();
  });
  return {
    start: show,
    stop() {
      opened = undefined;
    },
    go(name) {
      if (opened?.name === name) return;
      history.pushState(null, '', `#/${name}`);
      show();
    },
    refresh(isDue) {
      if (isDue || opened?.isQuick) void opened?.refresh?.();
    },
    say(name, state) {
      const line = built.get(name)?.state;
      if (line) say(line, state);
    },
    mark(name, count, what) {
      const mark = built.get(name)?.mark;
      if (!mark || mark.dataset['count'] === String(count)) return;
      mark.dataset['count'] = String(count);
      mark.replaceChildren(...(count === 0 ? [] : [String(count), make('span', { class: 'sr' }, ` ${what}`)]));
    },
  };
}

function build({ name, title, icon, whose }: View) {
  const body = bodyOf(name);
  const heading = make('h1', { id: `title-${name}`, tabindex: '-1' }, title);
  const state = make('p', { class: 'note', id: `state-${name}` });
  body.setAttribute('aria-labelledby', heading.id);
  body.prepend(make('div', { class: 'heading' }, heading, state));
  const mark = make('span', { class: 'mark-word' });
  const drawing = draw('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, draw('path', { d: icon }));
  const link = make('a', { href: `#/${name}` }, drawing, make('span', { class: 'name' }, title), mark);
  return {
    body,
    title: heading,
    state,
    mark,
    link,
    entry: make('li', whose === undefined ? {} : { class: whose }, link),
  };
}

function bodyOf(name: string): HTMLElement {
  const id = `view-${name}`;
  const found = document.getElementById(id);
  if (found) return found;
  const made = make('section', { id, hidden: '' });
  byId('console').append(made);
  return made;
}

/** On a phone the rail is a bar of the first names; the others are behind a button. */
function bindMore(rail: HTMLElement): void {
  const more = byId('more');
  more.addEventListener('click', () => setMore(rail, more.getAttribute('aria-expanded') !== 'true'));
  rail.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || more.getAttribute('aria-expanded') !== 'true') return;
    setMore(rail, false);
    more.focus();
  });
}

function setMore(rail: HTMLElement, isOpen: boolean): void {
  byId('more').setAttribute('aria-expanded', String(isOpen));
  rail.classList.toggle('is-open', isOpen);
}
