import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  backoffMs,
  IDLE,
  renewalMs,
  type StreamEffect,
  type StreamInput,
  type StreamState,
  step,
} from '../../../assets/console/stream.ts';
import { always } from '../../support/property.ts';

/** Runs inputs one after another; keeps the state and what is to be done. */
function play(from: StreamState = IDLE) {
  let state = from;
  let effects: readonly StreamEffect[] = [];
  const send = (input: StreamInput): readonly StreamEffect[] => {
    [state, effects] = step(state, input);
    return effects;
  };
  return { send, state: () => state };
}

/** A stream that is live on its first source, behind event 10. */
function live() {
  const story = play();
  story.send({ kind: 'start', lastId: 10 });
  story.send({ kind: 'minted', token: 'a', lifeMs: 300_000 });
  story.send({ kind: 'opened', source: 1 });
  return story;
}

describe('the stream', () => {
  test('mints, opens behind the last event, and renews after 60 % of the life', () => {
    const { send, state } = play();
    expect(send({ kind: 'start', lastId: 10 })).toContainEqual({ do: 'mint' });
    expect(state().phase).toBe('connecting');
    expect(send({ kind: 'minted', token: 'a', lifeMs: 300_000 })).toEqual([
      { do: 'open', source: 1, token: 'a', lastId: 10 },
      { do: 'wait', until: 'renew', ms: 180_000 },
    ]);
    send({ kind: 'opened', source: 1 });
    expect(state().phase).toBe('live');
    expect(send({ kind: 'event', source: 1, id: 11 })).toEqual([{ do: 'show' }]);
    expect(state().lastId).toBe(11);
  });

  test('a renewal opens the new source first, and shows what both deliver once', () => {
    const { send, state } = live();
    expect(send({ kind: 'renew' })).toEqual([{ do: 'mint' }]);
    expect(send({ kind: 'minted', token: 'b', lifeMs: 300_000 })).toContainEqual({
      do: 'open',
      source: 2,
      token: 'b',
      lastId: 10,
    });
    expect(send({ kind: 'event', source: 1, id: 11 })).toEqual([{ do: 'show' }]);
    expect(send({ kind: 'opened', source: 2 })).toContainEqual({ do: 'close', source: 1 });
    expect(send({ kind: 'event', source: 2, id: 11 })).toEqual([]);
    expect(send({ kind: 'event', source: 2, id: 12 })).toEqual([{ do: 'show' }]);
    expect(send({ kind: 'event', source: 1, id: 13 })).toEqual([]);
    expect(state()).toMatchObject({ phase: 'live', current: 2, next: null, lastId: 12 });
  });

  test('a rewind behind events starts the same token again behind what was shown', () => {
    const { send, state } = live();
    send({ kind: 'event', source: 1, id: 15 });
    expect(send({ kind: 'rewind', source: 1, id: 15 })).toEqual([
      { do: 'close', source: 1 },
      { do: 'open', source: 2, token: 'a', lastId: 15 },
    ]);
    expect(state().phase).toBe('rewinding');
    send({ kind: 'opened', source: 2 });
    expect(state().phase).toBe('live');
  });

  test('a rewind while a renewal overlaps does not go back behind what the other source showed', () => {
    const { send, state } = live();
    send({ kind: 'renew' });
    send({ kind: 'minted', token: 'b', lifeMs: 300_000 });
    send({ kind: 'opened', source: 2 });
    send({ kind: 'event', source: 2, id: 12 });
    expect(send({ kind: 'rewind', source: 2, id: 12 })).toContainEqual({
      do: 'open',
      source: 3,
      token: 'b',
      lastId: 12,
    });
    expect(state().lastId).toBe(12);
  });

  test('a rewind before any event tells that events are gone, and goes on where the vault is', () => {
    const { send, state } = live();
    expect(send({ kind: 'rewind', source: 1, id: 40 })).toEqual([{ do: 'lose', from: 10, to: 40 }]);
    expect(send({ kind: 'rewind', source: 1, id: 40 })).toEqual([]);
    expect(send({ kind: 'event', source: 1, id: 41 })).toEqual([{ do: 'show' }]);
    // Another database: its ids begin anew, and must not be taken for old ones.
    send({ kind: 'dropped', source: 1 });
    send({ kind: 'opened', source: 1 });
    expect(send({ kind: 'rewind', source: 1, id: 3 })).toEqual([{ do: 'lose', from: 41, to: 3 }]);
    expect(send({ kind: 'event', source: 1, id: 4 })).toEqual([{ do: 'show' }]);
    expect(state()).toMatchObject({ phase: 'live', lastId: 4 });
  });

  test('an expired token is renewed at once, and with a pause when that does not help', () => {
    const { send, state } = live();
    expect(send({ kind: 'expired', source: 1 })).toEqual([{ do: 'close', source: 1 }, { do: 'mint' }]);
    expect(state().phase).toBe('expired');
    send({ kind: 'minted', token: 'b', lifeMs: 1_000 });
    send({ kind: 'closed', source: 2 });
    expect(send({ kind: 'probed', source: 2, found: 'token_expired' })).toContainEqual({
      do: 'wait',
      until: 'retry',
      ms: backoffMs(1),
    });
    expect(send({ kind: 'retry' })).toEqual([{ do: 'mint' }]);
  });

  test('an expiry while the next source opens is no end', () => {
    const { send, state } = live();
    send({ kind: 'renew' });
    send({ kind: 'minted', token: 'b', lifeMs: 300_000 });
    expect(send({ kind: 'expired', source: 1 })).toEqual([{ do: 'close', source: 1 }]);
    expect(state()).toMatchObject({ phase: 'connecting', current: null, next: 2 });
    send({ kind: 'opened', source: 2 });
    expect(state()).toMatchObject({ phase: 'live', current: 2 });
  });

  test.each(['revoked', 'superseded'] as const)(
    '%s rests until the person starts anew, whatever is still under way',
    (kind) => {
      const { send, state } = live();
      send({ kind: 'event', source: 1, id: 11 });
      send({ kind: 'renew' });
      expect(send({ kind, source: 1 })).toContainEqual({ do: 'close', source: 1 });
      expect(state().phase).toBe(kind);
      for (const late of ['renew', 'retry', 'wake', 'mint-failed'] as const) expect(send({ kind: late })).toEqual([]);
      expect(send({ kind: 'minted', token: 'late', lifeMs: 300_000 })).toEqual([]);
      expect(send({ kind: 'dropped', source: 1 })).toEqual([]);
      expect(state().phase).toBe(kind);
      send({ kind: 'start', lastId: state().lastId });
      expect(send({ kind: 'minted', token: 'c', lifeMs: 300_000 })).toContainEqual({
        do: 'open',
        source: 2,
        token: 'c',
        lastId: 11,
      });
    },
  );

  test('a refusal that cannot be read is asked about: a revoked token rests', () => {
    const { send, state } = live();
    expect(send({ kind: 'closed', source: 1 })).toEqual([{ do: 'probe', source: 1 }]);
    send({ kind: 'probed', source: 1, found: 'token_revoked' });
    expect(state()).toMatchObject({ phase: 'revoked', current: null });
  });

  test("a vault that is away: the browser's own reconnect first, then tokens again and again with longer pauses", () => {
    const { send, state } = live();
    expect(send({ kind: 'dropped', source: 1 })).toEqual([{ do: 'wait', until: 'retry', ms: 6_000 }]);
    expect(state().phase).toBe('connecting');
    // Each attempt of the browser fails aloud, which does not put the page's own off.
    expect(send({ kind: 'dropped', source: 1 })).toEqual([]);
    const pauses = Array.from({ length: 8 }, () => {
      expect(send({ kind: 'retry' })).toEqual([{ do: 'mint' }]);
      const [wait] = send({ kind: 'mint-failed' });
      return wait?.do === 'wait' ? wait.ms : undefined;
    });
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(send({ kind: 'dropped', source: 1 })).toEqual([]);
    expect(state().phase).toBe('offline');
    expect(send({ kind: 'wake' })).toEqual([{ do: 'mint' }]);
    send({ kind: 'minted', token: 'b', lifeMs: 300_000 });
    expect(send({ kind: 'opened', source: 2 })).toContainEqual({ do: 'close', source: 1 });
    expect(state()).toMatchObject({ phase: 'live', failures: 0 });
  });

  test('a renewal that fails leaves a stream that delivers alone, and is tried again though the browser reconnects', () => {
    const { send, state } = live();
    send({ kind: 'renew' });
    expect(send({ kind: 'mint-failed' })).toEqual([{ do: 'wait', until: 'retry', ms: 500 }]);
    expect(state()).toMatchObject({ phase: 'live', current: 1 });
    send({ kind: 'dropped', source: 1 });
    expect(send({ kind: 'opened', source: 1 })).toEqual([]);
    expect(send({ kind: 'retry' })).toEqual([{ do: 'mint' }]);
  });

  test('stopped, it closes all and hears nothing more', () => {
    const { send, state } = live();
    expect(send({ kind: 'stop' })).toContainEqual({ do: 'close', source: 1 });
    expect(send({ kind: 'event', source: 1, id: 11 })).toEqual([]);
    expect(state()).toMatchObject({ phase: 'idle', sources: 1 });
  });

  test('a life that is over renews soon, never at once', () => {
    expect(renewalMs(-5_000)).toBe(500);
    expect(renewalMs(300_000)).toBe(180_000);
  });
});

/** A vault and a browser that do whatever numbers tell them, and what the page shows of it. */
function world() {
  interface Connection {
    cursor: number;
    state: 'pending' | 'open' | 'dropped' | 'ended' | 'refused';
    delivered: boolean;
    token: string;
  }
  const connections = new Map<number, Connection>();
  const dead = new Set<string>();
  const shown: number[] = [];
  const waits = new Set<'renew' | 'retry'>();
  let newest = 0;
  let tokens = 0;
  let isMinting = false;
  let state: StreamState = IDLE;
  const send = (input: StreamInput): void => {
    const [after, effects] = step(state, input);
    state = after;
    for (const effect of effects) {
      if (effect.do === 'show' && input.kind === 'event') shown.push(input.id);
      else if (effect.do === 'mint') isMinting = true;
      else if (effect.do === 'open') {
        const { source, lastId, token } = effect;
        connections.set(source, { cursor: lastId, state: 'pending', delivered: false, token });
      } else if (effect.do === 'close') connections.delete(effect.source);
      else if (effect.do === 'probe') send({ kind: 'probed', source: effect.source, found: 'token_expired' });
      else if (effect.do === 'wait') waits.add(effect.until);
      else if (effect.do === 'forget') waits.delete(effect.until);
      else if (effect.do === 'lose') throw new Error('an event was given up');
    }
  };
  const pick = (n: number, states: readonly Connection['state'][]) => {
    const found = [...connections].filter(([, one]) => states.includes(one.state));
    return found[n % Math.max(1, found.length)];
  };
  const actions: readonly ((n: number) => void)[] = [
    () => newest++,
    (n) => deliver(pick(n, ['open'])),
    (n) => deliver(pick(n, ['open'])),
    (n) => connect(pick(n, ['pending', 'dropped'])),
    (n) => drop(pick(n, ['open', 'pending'])),
    (n) => rewind(pick(n, ['open'])),
    (n) => expire(pick(n, ['open'])),
    () => minted(true),
    (n) => minted(n % 3 > 0),
    (n) => fire(n % 2 === 0 ? 'renew' : 'retry'),
    () => send({ kind: 'wake' }),
  ];
  const deliver = (found: [number, Connection] | undefined): void => {
    if (!found || found[1].cursor >= newest) return;
    found[1].delivered = true;
    send({ kind: 'event', source: found[0], id: ++found[1].cursor });
  };
  const connect = (found: [number, Connection] | undefined): void => {
    if (!found) return;
    if (dead.has(found[1].token)) {
      found[1].state = 'refused';
      send({ kind: 'closed', source: found[0] });
    } else {
      found[1].state = 'open';
      found[1].delivered = false;
      send({ kind: 'opened', source: found[0] });
    }
  };
  const drop = (found: [number, Connection] | undefined): void => {
    if (!found) return;
    found[1].state = 'dropped';
    send({ kind: 'dropped', source: found[0] });
  };
  /** Ends behind what it has given, as an overflow does. */
  const rewind = (found: [number, Connection] | undefined): void => {
    if (!found?.[1].delivered) return;
    found[1].state = 'dropped';
    send({ kind: 'rewind', source: found[0], id: found[1].cursor });
  };
  const expire = (found: [number, Connection] | undefined): void => {
    if (!found) return;
    dead.add(found[1].token);
    found[1].state = 'dropped';
    send({ kind: 'expired', source: found[0] });
  };
  const minted = (ok: boolean): void => {
    if (!isMinting) return;
    isMinting = false;
    send(ok ? { kind: 'minted', token: `t${++tokens}`, lifeMs: 300_000 } : { kind: 'mint-failed' });
  };
  const fire = (kind: 'renew' | 'retry'): void => {
    if (waits.delete(kind)) send({ kind });
  };
  send({ kind: 'start', lastId: 0 });
  return {
    act: (what: number, n: number) => actions[what % actions.length]?.(n),
    /** All goes well from here on: what happened is shown, or the stream has stopped for good. */
    settle() {
      for (let round = 0; round < 50; round++) {
        minted(true);
        connect(pick(round, ['pending', 'dropped']));
        fire('retry');
        for (let i = 0; i <= newest; i++) deliver(pick(0, ['open']));
      }
      return { shown, newest, state };
    },
  };
}

test('nothing is lost or shown twice, in whatever order connections drop, tokens expire, renewals fail and queues overflow', () => {
  always(
    fc.array(fc.tuple(fc.nat(10), fc.nat(11)), { minLength: 40, maxLength: 200, size: 'max' }),
    (acts) => {
      const it = world();
      for (const [what, n] of acts) it.act(what, n);
      const { shown, newest, state } = it.settle();
      expect(state.phase).toBe('live');
      expect(shown).toEqual(Array.from({ length: newest }, (_, i) => i + 1));
    },
    2_000,
  );
});
