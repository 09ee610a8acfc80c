import { afterAll } from 'bun:test';
import { testOrders } from '../support/orders/orders.ts';
import { must, type Pair, wordOf } from '../support/orders/play.ts';
import { claimBody, prepareWorld } from '../support/orders/worlds.ts';
import { createPeople } from '../support/people.ts';
import { APPS_VARS, appRequest, signIn } from '../support/sign-ups.ts';

/** Somebody with an address and a handle, who has signed in to an app: it has a code. */
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
  const { verifier: code_verifier, ...request } = appRequest();
  const { code } = (await signIn(t, who, { ...request, verifier: code_verifier })).body;
  const { client_id, redirect_uri } = request;
  return { did: who.did, exchange: { client_id, redirect_uri, code, code_verifier } };
});
afterAll(stop);

const pair: Pair = {
  world,
  async play({ act, play, isPaused }) {
    const exchange = (who: string) => act(who, ({ call }) => call('POST /api/register/token', made.exchange));
    const asked = ['app', 'app again'].map(exchange);
    await play();
    const replies = await Promise.all(asked);
    const won = replies.filter(({ status }) => status === 200);
    must('exactly one exchange wins', won.length, 1, ...(isPaused ? [0] : []));
    for (const { body } of won) must('it gets the person', body.did, made.did);
    for (const reply of replies) {
      const isUsed = wordOf(reply) === 'invalid_grant' && reply.body.reason === 'used';
      const isLate = isPaused && (wordOf(reply) === 'rpc_error' || reply.body.reason === 'expired');
      must('the other hears why', isUsed || isLate || won.includes(reply), true);
    }
    if (won.length === 1) return;
    const later = act('app', ({ call }) => call('POST /api/register/token', made.exchange));
    await play();
    const { status, body } = await later;
    must('what was not answered has used nothing up', status === 200 ? 'ok' : body.reason, 'ok', 'expired');
  },
};

testOrders('two exchanges of one code', {
  file: import.meta.path,
  pair,
  without: 'the condition that the code is not used',
  plant: { edits: [{ find: ' AND used_at IS NULL AND expires_at', replace: ' AND expires_at' }] },
  violates: /exactly one exchange wins: 2/,
});
