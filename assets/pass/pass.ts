// The page of a pass. The pass comes in the fragment, which no server and no log sees. Only the button sends it, in the
// body of a POST: what merely opens the link, such as a mail scanner, uses up nothing.

const input = document.querySelector('input');
const byHand = document.querySelector<HTMLElement>('#by-hand');
const pass = location.hash.slice(1);

if (input && byHand && pass !== '') {
  input.value = pass;
  byHand.hidden = true;
  // The history keeps no pass.
  history.replaceState(null, '', location.pathname);
}

// A second link that is opened in the same tab changes the fragment alone.
addEventListener('hashchange', () => location.reload());
