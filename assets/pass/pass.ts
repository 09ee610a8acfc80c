// The pages of a pass. The pass comes in the fragment, which no server and no log sees. Only the button sends it, in
// the body of a POST: a program that opens the link, such as a mail scanner, uses up nothing.
import { loadWords } from '../words/words.ts';

const input = document.querySelector<HTMLInputElement>('#pass');
const byHand = document.querySelector<HTMLElement>('#by-hand');
const pass = location.hash.slice(1);

if (input && byHand && pass !== '') {
  input.value = pass;
  byHand.hidden = true;
  // The history keeps no pass.
  history.replaceState(null, '', location.pathname + location.search);
}

// The next page is in the same language and brand.
for (const [name, value] of new URLSearchParams(location.search)) {
  const field = document.querySelector<HTMLInputElement>(`input[type=hidden][name="${CSS.escape(name)}"]`);
  if (!field || !/^[\w-]{1,64}$/.test(value)) continue;
  field.value = value;
  field.disabled = false;
}

void loadWords('pass');

// A second link that is opened in the same tab changes the fragment alone.
addEventListener('hashchange', () => location.reload());
