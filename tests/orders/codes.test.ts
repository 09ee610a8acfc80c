import { afterAll } from 'bun:test';
import { testOrders } from '../support/orders/orders.ts';
import { must, type Pair, type Party, wordOf } from '../support/orders/play.ts';
import { claimBody, prepareWorld } from '../support/orders/worlds.ts';
import { createPeople } from '../support/people.ts';
import { APPS_VARS, appRequest, queryOf, signFor } from '../support/sign-ups.ts';

/** Somebody with an address and a handle, who has signed in to an app: it has a code. The page asks once more. */
const { world, made, stop } = await prepareWorld(APPS_VARS, async (place) => {
  const { chain, t } = place;
  const people = createPeople(chain, () => t);
  const who = await people.own('handle');
  const { txHash } = await people.publish(who);
  must('the handle is claimed', (await t.call('POST /api/dids', claimBody(place, who, txHash))).status, 200);
  const atAddress = { ...who, channel: 'email', identifier: 'person@example.com' } as const;
  const claim = claimBody(place, atAddress, txHash, await people.attest(atAddress));
  must('the address is claimed', (await t.call('POST /api/dids', claim)).status, 200);
  await t.clock.advance(30_000);
  await t.work();
  const request = appRequest();
  const { client_id, redirect_uri, verifier: code_verifier } = request;
  const evidence = { credentialId: who.credentialId, ...(await signFor(t, who, request)) };
  const authorization = { request: queryOf(request), ...evidence };
  const { code } = (await t.call('POST /authorize/code', authorization)).body;
  return { did: who.did, authorization, exchange: { client_id, redirect_uri, code, code_verifier } };
});
afterAll(stop);

/** A code that was used or replaced, and a proof that has made one that was used. */
const REFUSED = ['invalid_grant', 'proof_invalid'];

const pair: Pair = {
  world,
  async play({ act, play, isPaused }) {
    const exchange = (call: Party['call'], change = {}) =>
      call('POST /api/register/token', { ...made.exchange, ...change });
    const asked = ['app', 'app again'].map((who) => act(who, ({ call }) => exchange(call)));
    // Its answer was lost: the same proof makes another code, while none of it is used.
    const anew = act('page', async ({ call }) => {
      const reply = await call('POST /authorize/code', made.authorization);
      return reply.status === 200 ? exchange(call, { code: reply.body.code }) : reply;
    });
    await play();
    const replies = await Promise.all([...asked, anew]);
    const won = replies.filter(({ status }) => status === 200);
    must('exactly one exchange wins', won.length, 1, ...(isPaused ? [0] : []));
    for (const { body } of won) must('it gets the person', body.did, made.did);
    for (const reply of replies) {
      const isUsed = REFUSED.includes(wordOf(reply)) && ['used', 'code'].includes(reply.body.reason);
      const isLate = isPaused && (wordOf(reply) === 'rpc_error' || reply.body.reason === 'expired');
      must('the others hear why', isUsed || isLate || won.includes(reply), true);
    }
    if (won.length === 1) return;
    const used = world.database.rows('SELECT used_at FROM authorization_codes WHERE used_at IS NOT NULL');
    must('what was not answered has used nothing up', used, []);
  },
};

testOrders('two exchanges of one code', {
  file: import.meta.path,
  pair,
  without: 'the condition that the code is not used',
  plant: { edits: [{ find: ' AND used_at IS NULL AND expires_at', replace: ' AND expires_at' }] },
  violates: /exactly one exchange wins: 2/,
});
