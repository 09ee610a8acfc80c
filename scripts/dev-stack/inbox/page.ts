// The inbox: the messages of the vault, newest first, and the code of each to copy by one press.
import { element, toggle, write } from '../../../assets/wallet/view.ts';
import type { InboxMessage } from '../inbox.ts';

const LOOK_MS = 1_000;
/** A row each; older ones are left to `GET /messages`. */
const SHOWN_MAX = 200;

/** Oldest first, as they are asked for. */
let messages: InboxMessage[] = [];
let view: 'html' | 'text' = 'html';
let opened: number | undefined;

const time = new Intl.DateTimeFormat(navigator.languages.slice(), { timeStyle: 'medium' });
const full = new Intl.DateTimeFormat(navigator.languages.slice(), { dateStyle: 'long', timeStyle: 'long' });

/** Copies the code, and says so where it was asked for. */
async function copy({ code }: InboxMessage, button: HTMLElement, says: HTMLElement = button): Promise<void> {
  if (code === null) return;
  const words = says.textContent;
  const isCopied = await navigator.clipboard.writeText(code).then(
    () => true,
    () => false,
  );
  says.textContent = isCopied ? 'Copied' : `Not copied: select ${code}`;
  write('status', isCopied ? `Copied ${code}` : 'The browser did not let this page copy.');
  setTimeout(() => {
    says.textContent = words;
  }, 1_500);
}

function rowOf(message: InboxMessage): HTMLLIElement {
  const { id, kind, subject, text, to, at, code } = message;
  const row = document.createElement('li');
  const link = document.createElement('a');
  link.href = `#${id}`;
  link.dataset['id'] = String(id);
  const part = (tag: string, words: string, className = '') => {
    const made = document.createElement(tag);
    made.textContent = words;
    made.className = className;
    return made;
  };
  const place = part('span', '');
  place.append(part('b', kind === 'sms' ? 'SMS' : 'Mail', 'kind'), ` ${time.format(new Date(at))}`);
  link.append(part('strong', kind === 'sms' ? text : subject), part('span', to.join(', ')), place);
  row.append(link);
  if (code === null) return row;
  const button = part('button', '') as HTMLButtonElement;
  button.type = 'button';
  const says = part('span', 'Copy');
  button.append(says, ' ', part('b', code));
  button.onclick = () => void copy(message, button, says);
  row.append(button);
  return row;
}

/** Shows the message of the address bar; without one the newest, where there is room beside the list. */
function open(): void {
  const chosen = messages.find(({ id }) => `#${id}` === location.hash);
  element('panes').classList.toggle('reading', chosen !== undefined);
  const message = chosen ?? messages.at(-1);
  toggle('reader', message !== undefined);
  for (const link of element('list').querySelectorAll('a')) {
    if (link.dataset['id'] === String(message?.id)) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
  if (!message || message.id === opened) return;
  opened = message.id;
  read(message);
}

function read(message: InboxMessage): void {
  const { kind, subject, to, from, at, text, code, hasHtml, id } = message;
  write('subject', kind === 'sms' ? 'SMS' : subject);
  write('to', to.join(', '));
  write('from', from ?? '');
  toggle('from-row', from !== null);
  const arrived = element<HTMLTimeElement>('at');
  arrived.dateTime = at;
  arrived.textContent = full.format(new Date(at));
  const button = element<HTMLButtonElement>('copy');
  write('copy', code === null ? undefined : `Copy ${code}`);
  button.onclick = () => void copy(message, button);
  write('text', text);
  toggle('views', hasHtml);
  const frame = element<HTMLIFrameElement>('frame');
  // Its page is in the frame alone: going back leads to another message, not to another content of the frame.
  if (hasHtml) frame.contentWindow?.location.replace(`/messages/${id}.html`);
  show(hasHtml ? view : 'text');
}

function show(chosen: 'html' | 'text'): void {
  toggle('frame', chosen === 'html');
  toggle('text', chosen === 'text');
  for (const name of ['html', 'text'] as const)
    element(`view-${name}`).setAttribute('aria-pressed', String(name === chosen));
  fit();
}

/** Makes the frame as high as the mail. */
function fit(): void {
  const frame = element<HTMLIFrameElement>('frame');
  const page = frame.contentDocument?.documentElement;
  if (frame.hidden || !page) return;
  // A page is at least as high as its frame: without this a short mail would keep the height of the one before.
  frame.style.height = '0';
  frame.style.height = `${page.scrollHeight + 2}px`;
}

function take(arrived: readonly InboxMessage[]): void {
  if (arrived.length === 0) return;
  messages = [...messages, ...arrived].slice(-SHOWN_MAX);
  const list = element('list');
  list.prepend(...arrived.slice(-SHOWN_MAX).toReversed().map(rowOf));
  while (list.children.length > SHOWN_MAX) list.lastElementChild?.remove();
  open();
}

async function look(): Promise<void> {
  const after = messages.at(-1)?.id ?? 0;
  const answer = await fetch(`/messages?after=${after}`).catch(() => undefined);
  const arrived = answer?.ok ? ((await answer.json().catch(() => undefined)) as InboxMessage[] | undefined) : undefined;
  const wasAway = element('state').classList.contains('away');
  element('state').className = `pill ${arrived ? 'live' : 'away'}`;
  write('state', arrived ? 'Live' : 'Not answering');
  toggle('away', !arrived);
  if (!arrived) return;
  // Another npm start counts from the beginning.
  if (wasAway) return location.reload();
  const isFirst = opened === undefined;
  take(arrived);
  toggle('empty', messages.length === 0);
  toggle('panes', messages.length > 0);
  const newest = arrived.at(-1);
  if (newest && !isFirst) write('status', `New ${newest.kind === 'sms' ? 'SMS' : 'mail'} to ${newest.to.join(', ')}`);
}

/** Handles keys only where the list has the focus: a person who types elsewhere is not disturbed. */
function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const links = [...element('list').querySelectorAll('a')];
  const row = (event.target as Element).closest('li');
  const at = links.findIndex((link) => link.closest('li') === row);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    links[Math.max(0, Math.min(to, links.length - 1))]?.focus();
  }
  if (event.key.toLowerCase() === 'c') row?.querySelector('button')?.click();
}

addEventListener('hashchange', () => {
  open();
  if (location.hash !== '') element('reader').focus();
});
element('list').addEventListener('keydown', onKey);
element('frame').addEventListener('load', fit);
addEventListener('resize', fit);
for (const name of ['html', 'text'] as const) {
  element(`view-${name}`).onclick = () => {
    view = name;
    show(name);
  };
}
for (;;) {
  await look();
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
