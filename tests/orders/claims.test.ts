import { afterAll } from 'bun:test';
import { testOrders } from '../support/orders/orders.ts';
import { must, type Pair, wordOf } from '../support/orders/play.ts';
import { prepareWorld } from '../support/orders/worlds.ts';
import { createPeople } from '../support/people.ts';

/** Two people who want one handle; of the transactions that they name the chain shows nothing yet. */
const { world, made, stop } = await prepareWorld({}, async ({ chain, t }) => {
  const people = createPeople(chain, () => t);
  const claimOf = async (txHash: string) => {
    const { did, credentialId } = await people.own('handle');
    return { did, credentialId, identifier: 'ada', channel: 'handle', txHash };
  };
  return { alice: await claimOf(`0x${'a1'.repeat(32)}`), bob: await claimOf(`0x${'b0'.repeat(32)}`) };
});
afterAll(stop);

/** With time standing still in between, the lock of the row may be given up, and the node's answer. */
const GIVEN_UP = ['identifier_busy', 'rpc_error'];

const pair: Pair = {
  world,
  async play({ act, play, isPaused }) {
    const claim = (who: string, body: typeof made.alice) => act(who, ({ call }) => call('POST /api/dids', body));
    const asked = [claim('alice', made.alice), claim('bob', made.bob), claim('alice again', made.alice)];
    await play();
    const words = (await Promise.all(asked)).map(wordOf);
    const rows = world.database.rows(`SELECT did, holds FROM registrations WHERE status <> 'failed'`);
    const [holder] = rows;
    must('an identifier has one holder, and nobody else a claim of it', rows.length, 1, ...(isPaused ? [0] : []));
    if (holder) must('its holder holds it', holder['holds'], 1);
    const sessions = world.database.rows('SELECT did, linked FROM sessions');
    must('its session is linked to its holder', sessions, holder ? [{ did: holder['did'], linked: 1 }] : []);
    for (const [i, did] of [made.alice.did, made.bob.did, made.alice.did].entries()) {
      const right = did === holder?.['did'] ? 'ok' : 'identifier_taken';
      must('everybody hears who holds it', words[i], right, ...(isPaused ? GIVEN_UP : []));
    }
  },
};

testOrders('two claims of one identifier', {
  file: import.meta.path,
  pair,
  without: 'the lock of its row',
  plant: {
    edits: [
      {
        find: '\n      WHERE leased_until <= :now OR leased_until > :latest',
        replace: '\n      WHERE :now <= :latest',
      },
      { find: 'fence = :lock_fence\n      AND leased_until > :lock_now', replace: ':lock_fence > 0 AND :lock_now > 0' },
      { find: 'fence = :lock_fence\n  AND admitted = fence', replace: ':lock_fence > 0 AND admitted = fence' },
    ],
  },
  violates: /an identifier has one holder, and nobody else a claim of it: 2|everybody hears who holds it: "ok"/,
});
