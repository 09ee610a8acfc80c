import { afterEach, describe, expect, test } from 'bun:test';
import { type Asked, askPopup } from '../../../client/vault/page.ts';

const VAULT = 'https://vault.example';

/** Ends what a test has replaced. */
let restore = () => {};
afterEach(() => restore());

/** A window of the vault that is asked, whose closing and messages the test orders. `look` is a turn of the timer. */
function asked(what: Asked) {
  const window = { closed: false, postMessage: () => {}, close: () => {} };
  const own = globalThis.setInterval;
  let look = () => {};
  globalThis.setInterval = ((turn: () => void) => {
    look = turn;
    return 0;
  }) as never;
  restore = () => {
    globalThis.setInterval = own;
  };
  let outcome: unknown = 'open';
  const end = askPopup(what, { origin: VAULT, window: window as never }, Promise.resolve({ id: 'tea' })).then(
    (details) => {
      outcome = details;
    },
    ({ error }) => {
      outcome = error;
    },
  );
  return {
    end,
    window,
    look: () => look(),
    said: () => outcome,
    hear(message: object) {
      const data = { vault: what, ...message };
      dispatchEvent(Object.assign(new Event('message'), { source: window, origin: VAULT, data }));
    },
  };
}

describe('a window that closes', () => {
  for (const what of ['pay', 'approve'] as const)
    test(`${what}: is seen closed before its last word is here: the word counts`, async () => {
      const { end, window, look, said, hear } = asked(what);
      window.closed = true;
      look();
      hear({ type: 'cancel', reason: 'cancelled' });
      await end;
      expect(said()).toBe('cancelled');
    });

  for (const [what, word] of [
    ['pay', 'not_paid_yet'],
    ['approve', 'not_approved'],
  ] as const)
    test(`${what}: without a word: ${word}`, async () => {
      const { end, window, look, said } = asked(what);
      look();
      window.closed = true;
      look();
      look();
      await end;
      expect(said()).toBe(word);
    });

  test('after a payment was sent: its hash is the answer', async () => {
    const { end, window, look, said, hear } = asked('pay');
    hear({ type: 'pending', details: { userOpHash: '0x12' } });
    window.closed = true;
    look();
    look();
    await end;
    expect(said()).toEqual({ userOpHash: '0x12' });
  });
});
