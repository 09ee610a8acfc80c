import { explain } from './answer.ts';
import type { Api } from './api.ts';
import { make, say } from './dom.ts';
import { formatTime } from './format.ts';
import { TEST_MESSAGE_TIMEOUT_MS } from './limits.ts';
import type { View } from './shell.ts';

/** The finding of a check. */
interface Check {
  readonly area: string;
  readonly name: string;
  readonly state: 'ok' | 'warn' | 'fail' | 'skipped';
  readonly text: string;
  readonly remedy?: string;
}

interface Report {
  readonly checkedAt: string;
  readonly checks: readonly Check[];
}

/** A state's name, and its mark. */
const STATES = {
  fail: ['does not work', '✗'],
  warn: ['works, but', '!'],
  ok: ['works', '✓'],
  skipped: ['not checked', '–'],
} as const;

/** The checks of `vault doctor`, and a test message. The checks are made when the view is opened, and on demand. */
export function createDoctor(api: Api): NonNullable<View['open']> {
  const found = make('output', { id: 'doctor-found' });
  const again = make('button', { type: 'button', id: 'doctor-again' }, 'Check again');
  const check = async (): Promise<void> => {
    if (again.disabled) return;
    again.disabled = true;
    found.setAttribute('aria-busy', 'true');
    say(stateLine(), 'checking …');
    try {
      const report = (await api.get('doctor')) as Report;
      found.replaceChildren(...drawn(report));
      say(stateLine(), summary(report));
    } catch (error) {
      found.replaceChildren(make('p', { class: 'failure' }, explain(error)));
      say(stateLine(), '');
    } finally {
      found.removeAttribute('aria-busy');
      again.disabled = false;
    }
  };
  again.addEventListener('click', () => void check());
  return ({ body }) => {
    if (!body.contains(found)) body.append(make('div', { class: 'toolbar' }, again), found, testForm(api));
    void check();
  };
}

function stateLine(): HTMLElement {
  return document.getElementById('state-doctor') ?? make('p');
}

function summary({ checkedAt, checks }: Report): string {
  const count = (state: Check['state']) => checks.filter((one) => one.state === state).length;
  const parts = [`${count('fail')} ✗`, `${count('warn')} !`, `${count('ok')} ✓`];
  return `checked at ${formatTime(checkedAt)}: ${parts.join(', ')}`;
}

function drawn({ checks }: Report): Node[] {
  return [...new Set(checks.map(({ area }) => area))].map((area) =>
    make(
      'section',
      { class: 'doctor-area' },
      make('h2', {}, area),
      make('ul', { class: 'doctor' }, ...checks.filter((one) => one.area === area).map(drawCheck)),
    ),
  );
}

function drawCheck({ name, state, text, remedy }: Check): HTMLElement {
  const [word, mark] = STATES[state];
  return make(
    'li',
    { 'data-state': state },
    make('span', { class: 'doctor-mark', 'aria-hidden': 'true' }, mark),
    make('span', { class: 'sr' }, `${word}: `),
    make('b', {}, name),
    make('span', {}, text),
    remedy === undefined || remedy === '' ? null : make('span', { class: 'doctor-remedy' }, `→ ${remedy}`),
  );
}

/** Sends a message after a second press, which names where it goes. */
function testForm(api: Api): HTMLElement {
  const input = make('input', {
    id: 'doctor-to',
    name: 'to',
    autocomplete: 'off',
    placeholder: 'you@example.com or +49…',
  });
  const button = make('button', {}, 'Send a test …');
  const answer = make('output', { id: 'doctor-sent' });
  let confirmed = '';
  const reset = (): void => {
    confirmed = '';
    say(button, 'Send a test …');
  };
  input.addEventListener('input', reset);
  const form = make(
    'form',
    { id: 'doctor-send', class: 'doctor-send for-operators' },
    make('h2', {}, 'Test message'),
    make(
      'p',
      { class: 'note' },
      'A mail or an SMS that says that it is a test, by the provider in force. 20 in a day.',
    ),
    make('label', { for: 'doctor-to' }, 'To'),
    input,
    button,
    answer,
  );
  const send = async (to: string): Promise<void> => {
    button.disabled = true;
    say(answer, 'sending …');
    try {
      const { check } = (await api.post('doctor/send', { to }, TEST_MESSAGE_TIMEOUT_MS)) as { check: Check };
      answer.replaceChildren(make('ul', { class: 'doctor' }, drawCheck(check)));
    } catch (error) {
      answer.replaceChildren(make('p', { class: 'failure' }, explain(error)));
    } finally {
      button.disabled = false;
      reset();
    }
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const to = input.value.trim();
    if (to === '') return input.focus();
    if (confirmed === to) return void send(to);
    confirmed = to;
    say(button, `Really send to ${to}`);
  });
  return form;
}
