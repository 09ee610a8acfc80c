// The front door. What it offers is what the vault's settings offer: `GET /` as JSON says so.
import { loadWords, word } from '../words/words.ts';

/** What the page uses of `GET /`. */
interface Front {
  readonly url: string;
  readonly links: Readonly<Record<string, string | null>>;
}

/** What it uses of `GET /api/status`. */
interface State {
  readonly chain: string;
  readonly database: string;
}

const WAIT_MS = 5_000;

void Promise.all([loadWords('landing'), ask<Front>('/')]).then(async ([hasWords, front]) => {
  if (front) offer(front);
  if (hasWords) say(await ask<State>('/api/status'));
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

/** Says in the header whether the vault works, and which chain it serves. */
function say(state: State | undefined): void {
  const place = document.querySelector('#state');
  if (!place) return;
  if (!state) place.textContent = word('state.silent');
  else if (state.database !== 'connected') place.textContent = word('state.database');
  else place.textContent = word('state.running', { chain: state.chain });
}
