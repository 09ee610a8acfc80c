import { afterAll } from 'bun:test';
import { confirmRegistrations } from '../../lib/registration/confirm.ts';
import { testOrders } from '../support/orders/orders.ts';
import { must, type Pair, wordOf } from '../support/orders/play.ts';
import { claimBody, prepareWorld } from '../support/orders/worlds.ts';
import { createPeople } from '../support/people.ts';

/** Longer than the pause between two looks at a registration. */
const PAUSE_MS = 31_000;

/** Somebody whose registration is mined and was recorded without a proof, and who sends it once more with one. */
const { world, made, stop } = await prepareWorld({}, async (place) => {
  const { chain, t } = place;
  const people = createPeople(chain, () => t);
  const who = await people.own('email');
  const { txHash } = await people.publish(who);
  const { proof, ...unproven } = claimBody(place, who, txHash, await people.attest(who));
  const { status } = await t.call('POST /api/dids', unproven);
  must('it is recorded', [status, proof !== undefined], [200, true]);
  // Another attestation than the first.
  await t.clock.advance(1_000);
  return { who, claim: claimBody(place, who, txHash, await people.attest(who)) };
});
afterAll(stop);

const pair: Pair = {
  world,
  async play({ act, play, pass, isPaused, entries }) {
    const { who, claim } = made;
    const confirm = (task: string) => act(task, ({ ctx }) => confirmRegistrations(ctx));
    const claimed = act('client', ({ call }) => call('POST /api/dids', claim));
    confirm('task');
    confirm('other task');
    const seen = act('reader', async ({ call }) => [
      await call(`GET /api/dids/lookup?credentialId=${who.credentialId}`),
      await call(`GET /api/dids/lookup?credentialId=${who.credentialId}`),
    ]);
    await play();
    for (const { body } of await seen) must('the credential leads to its DID all the time', body.did, who.did);
    const [first, then] = (await seen).map(({ body }) => body.status);
    if (first === 'confirmed') must('what was confirmed stays so', then, 'confirmed');
    const word = wordOf(await claimed);
    must('the claim is recorded', word, 'ok', ...(isPaused ? ['rpc_error', 'identifier_busy'] : []));
    pass(PAUSE_MS);
    confirm('task');
    await play();
    const outcomes = entries.filter(({ event }) => event === 'registration').map((one) => [one['id'], one['outcome']]);
    const ids = word === 'ok' ? [1, 2] : [1];
    must(
      'each registration is confirmed once',
      outcomes.sort(),
      ids.map((id) => [id, 'confirmed']),
    );
    const rows = world.database.rows(`SELECT status, holds FROM registrations ORDER BY id`);
    const [unproven, proven] = [
      { status: 'confirmed', holds: 0 },
      { status: 'confirmed', holds: 1 },
    ];
    must('the one with the proof holds the address', rows, word === 'ok' ? [unproven, proven] : [proven]);
    const sessions = world.database.rows('SELECT did, linked FROM sessions');
    must('its session is linked', sessions, [{ did: who.did, linked: 1 }]);
  },
};

testOrders('a claim and its confirmation', {
  file: import.meta.path,
  pair,
  without: 'the lease of a look',
  plant: {
    edits: [
      { find: 'SET next_check_at = :next, checks', replace: 'SET next_check_at = next_check_at + 0 * :next, checks' },
      { find: ' AND next_check_at = :leased_until', replace: ' AND :leased_until > 0' },
    ],
  },
  violates: /each registration is confirmed once/,
});
