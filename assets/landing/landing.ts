// The front door. It offers what the vault's settings offer, as `GET /` in JSON lists it.
import { inLanguages, loadWords, word } from '../words/words.ts';

/** The members of `GET /` that the page uses. */
interface Front {
  readonly url: string;
  readonly links: Readonly<Record<string, string | null>>;
}

/** The members of `GET /api/status` that it uses. */
interface State {
  readonly chain: string;
  readonly database: string;
}

const WAIT_MS = 5_000;

void Promise.all([loadWords('landing'), ask<Front>('/')]).then(async ([hasWords, front]) => {
  if (front) offer(front);
  // Where the words did not come, nothing else is to be had either.
  say(hasWords ? wordOf(await ask<State>('/api/status')) : 'No answer');
});

async function ask<T>(path: string): Promise<T | undefined> {
  try {
    const signal = AbortSignal.timeout(WAIT_MS);
    const answer = await fetch(path, { headers: { accept: 'application/json' }, signal });
    return answer.ok ? ((await answer.json()) as T) : undefined;
  } catch {
    return undefined;
  }
}

/** Shows what is offered here. */
function offer({ url, links }: Front): void {
  for (const one of document.querySelectorAll<HTMLElement>('[data-offer]'))
    one.hidden = !links[one.dataset['offer'] ?? ''];
  const code = document.querySelector<HTMLElement>('#snippet');
  const example = document.querySelector<HTMLElement>('#example');
  // A sign-up ends with an account.
  if (!code || !example || !links['account']) return;
  code.textContent = [
    `import { createClient } from '${url}/client.js';`,
    `const vault = createClient({ url: '${url}' });`,
    'const { did } = await vault.register({ email, askCode });',
  ].join('\n');
  example.hidden = false;
}

/** Whether the vault works, and which chain it serves. */
function wordOf(state: State | undefined): string {
  if (!state) return word('state.silent');
  return state.database === 'connected' ? word('state.running', { chain: state.chain }) : word('state.database');
}

/** Writes it in the header. */
function say(words: string): void {
  document.querySelector('#state')?.replaceChildren(...inLanguages(words));
}
