import { afterAll } from 'bun:test';
import { PERSONAL_TABLES } from '../../lib/person/read.ts';
import { confirmRegistrations } from '../../lib/registration/confirm.ts';
import { OPERATOR } from '../support/events.ts';
import { testOrders } from '../support/orders/orders.ts';
import { must, type Pair, wordOf } from '../support/orders/play.ts';
import { claimBody, prepareWorld } from '../support/orders/worlds.ts';
import { createPeople } from '../support/people.ts';

/** Somebody with an attestation and a transaction, who registers; and another device of theirs, which has a code. */
const { world, made, stop } = await prepareWorld({ DATABASE_CHECKPOINT: 'external' }, async (place) => {
  const { chain, t } = place;
  const people = createPeople(chain, () => t);
  const who = await people.own('email');
  const { identifier } = who;
  const { txHash } = await people.publish(who);
  const claim = claimBody(place, who, txHash, await people.attest(who));
  const asked = { identifier, channel: 'email' };
  const { challenge } = (await t.call('POST /api/verify/send', asked)).body;
  return { identifier, claim, check: { ...asked, challenge, code: t.codeFor(identifier) } };
});
afterAll(stop);

/** Where the identifier is; the lock of its row may outlast its use by a minute. */
function placesOf(identifier: string): readonly string[] {
  const has = (table: string) => JSON.stringify(world.database.rows(`SELECT * FROM ${table}`)).includes(identifier);
  return PERSONAL_TABLES.filter((table) => table !== 'identifier_rows' && has(table));
}

const pair: Pair = {
  world,
  async play({ act, play, isPaused }) {
    const { identifier, claim, check } = made;
    const claimed = act('person', async ({ ctx, call }) => {
      const reply = await call('POST /api/dids', claim, { 'Idempotency-Key': 'claim' });
      await confirmRegistrations(ctx);
      return reply;
    });
    const checked = act('device', ({ call }) => call('POST /api/verify/check', check));
    const erased = act('operator', ({ call }) => call('POST /v1/console/person/erase', { identifier }, OPERATOR));
    await play();
    const givenUp = isPaused ? ['identifier_busy', 'rpc_error', 'attestation_expired'] : [];
    must('the person is registered, before or after', wordOf(await claimed), 'ok', ...givenUp);
    must('the device hears whether the code was right', wordOf(await checked), 'ok');
    const word = wordOf(await erased);
    must('the operator erases the person', word, 'ok', ...givenUp);
    if (word !== 'ok') return;
    const [found] = world.database.rows(
      `SELECT (SELECT count(*) FROM registrations WHERE identifier = :key AND holds = 1) AS held,
        (SELECT count(*) FROM sessions WHERE identifier = :key AND linked = 1) AS linked`,
      { key: `email:${identifier}` },
    );
    const [gone, back] = [
      { held: 0, linked: 0 },
      { held: 1, linked: 1 },
    ];
    must('who comes back is registered, whole', found, gone, back);
    const places = placesOf(identifier);
    must('nothing of an erased person comes back by itself', places.includes('verifications'), false);
    if (found?.['held'] === 0) must('nothing of an erased person comes back', places, []);
  },
};

testOrders('an erasure while somebody registers', {
  file: import.meta.path,
  pair,
  without: 'the condition that a code is still of its identifier',
  plant: { edits: [{ find: 'AND identifier = :identifier', replace: 'AND :identifier > 0' }] },
  violates: /nothing of an erased person comes back/,
});
