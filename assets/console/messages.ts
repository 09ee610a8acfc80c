import { answerInto } from './answer.ts';
import type { Api } from './api.ts';
import { byId, make } from './dom.ts';
import { formatCount, nounOf } from './format.ts';

/** A mail and its text message, with made-up values, as the vault answers them. */
interface Preview {
  readonly messages: readonly string[];
  readonly languages: readonly string[];
  readonly apps: readonly string[];
  readonly message: string;
  readonly lang: string;
  readonly app: string;
  readonly mail: { readonly subject: string; readonly text: string; readonly html: string };
  readonly sms: {
    readonly text: string;
    readonly alphabet: string;
    readonly units: number;
    readonly segments: number;
  } | null;
}

const CHOICES = ['message', 'lang', 'app'] as const;

/** Shows the messages that people get: chosen by message, language and app. Call the result to fill it. */
export function createMessages(api: Api): () => Promise<void> {
  const answer = byId('messages-answer');
  const choices = CHOICES.map((name) => byId(`messages-${name}`, HTMLSelectElement));
  const show = (query: Readonly<Record<string, string>>) =>
    answerInto(answer, async () => {
      const found = (await api.get('messages', query)) as Preview;
      const lists = [found.messages, found.languages, found.apps];
      const chosen = [found.message, found.lang, found.app];
      for (const [i, choice] of choices.entries()) {
        choice.replaceChildren(...(lists[i] ?? []).map((one) => make('option', { value: one }, wordsOf(one))));
        choice.value = chosen[i] ?? '';
      }
      byId('messages-app-field').hidden = found.apps.length < 2;
      return drawn(found);
    });
  const chosen = () => Object.fromEntries(CHOICES.map((name, i) => [name, choices[i]?.value ?? '']));
  for (const choice of choices) choice.addEventListener('change', () => void show(chosen()));
  // Registered once: only a choice changes the message that is shown.
  return async () => {
    if (answer.childElementCount === 0) await show({});
  };
}

function wordsOf(name: string): string {
  return name.replaceAll('_', ' ');
}

function drawn({ mail, sms, lang }: Preview): Node {
  const frame = make('iframe', { title: 'The mail as HTML', sandbox: 'allow-same-origin', tabindex: '-1' });
  frame.addEventListener('load', () => dress(frame, mail.html));
  frame.srcdoc = trusted(mail.html);
  const count = sms && `${sms.alphabet}, ${formatCount(sms.units)} units`;
  const segments = sms && `${formatCount(sms.segments)} ${nounOf(sms.segments, 'segment')}`;
  return make(
    'div',
    { class: 'messages' },
    make('p', {}, make('b', {}, 'Subject '), make('span', { lang, dir: 'auto', id: 'messages-subject' }, mail.subject)),
    frame,
    make('h2', {}, 'Mail as text'),
    make('pre', { lang, dir: 'auto', id: 'messages-text' }, mail.text),
    make('h2', {}, 'Text message'),
    sms === null
      ? make('p', { class: 'empty' }, 'None: it goes out by mail alone, or the SMS provider writes its own text.')
      : make('pre', { lang, dir: 'auto', id: 'messages-sms' }, sms.text),
    sms && make('p', { class: 'note', id: 'messages-count' }, `${segments} (${count})`),
  );
}

interface Policies {
  createPolicy(name: string, rules: { createHTML(html: string): string }): { createHTML(html: string): string };
}
const policies = (window as { trustedTypes?: Policies }).trustedTypes;
/** The vault wrote the mail, and escaped what is in it. Nothing runs in the frame: its sandbox allows no script. */
const policy = policies?.createPolicy('mail', { createHTML: (html) => html });

/** The page's policy takes no styles from HTML. They are put aside here, and set by `dress`. */
function trusted(html: string): string {
  const bare = html.replace(STYLES, '').replaceAll(' style="', ' data-style="');
  return policy ? policy.createHTML(bare) : bare;
}

const STYLES = /<style>([^<]*)<\/style>/;

/** Sets the styles of the mail in its frame, which gets the height of its content. Its links lead nowhere. */
function dress(frame: HTMLIFrameElement, html: string): void {
  const [page, view] = [frame.contentDocument, frame.contentWindow as (Window & typeof globalThis) | null];
  if (!page || !view) return;
  const sheet = new view.CSSStyleSheet();
  sheet.replaceSync(STYLES.exec(html)?.[1] ?? '');
  page.adoptedStyleSheets = [sheet];
  for (const one of page.querySelectorAll<HTMLElement>('[data-style]')) {
    one.style.cssText = one.dataset['style'] ?? '';
    one.removeAttribute('data-style');
  }
  for (const link of page.querySelectorAll('a')) {
    link.style.textDecoration = 'underline';
    link.removeAttribute('href');
  }
  // A narrower frame has a higher mail.
  const fit = () => {
    frame.style.height = `${page.body.offsetHeight}px`;
  };
  new ResizeObserver(fit).observe(page.body);
  fit();
}
