import { afterAll } from 'bun:test';
import { exchangeCode } from '../../lib/authorization-codes/exchange.ts';
import { VaultError } from '../../lib/base/error.ts';
import { testOrders } from '../support/orders/orders.ts';
import { must, type Pair, type Party, wordOf } from '../support/orders/play.ts';
import { claimBody, type Preparing, prepareWorld } from '../support/orders/worlds.ts';
import { createPeople } from '../support/people.ts';
import { APPS_HOST, APPS_VARS, appRequest, authorize, codeIn, queryOf, signFor } from '../support/sign-ups.ts';

/** Somebody with an address and a handle, who has signed in to an app: it has a code. The page asks once more. */
const prepare = async (place: Preparing) => {
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
  const { client_id: clientId, redirect_uri: redirectUri, verifier: codeVerifier } = request;
  const evidence = { credentialId: who.credentialId, ...(await signFor(t, who, request)) };
  const code = String((await authorize(t, request, evidence)).body.code);
  const authorization = { request: queryOf(request), identifiers: {}, ...evidence };
  return { did: who.did, authorization, exchange: { clientId, redirectUri, code, codeVerifier } };
};
const { world, made, stop } = await prepareWorld(APPS_VARS, prepare, undefined, APPS_HOST);
afterAll(stop);

/** The exchange without the tokens that follow: RSA keys take their time, and are read for nobody else. */
async function exchange({ ctx }: Party, change = {}) {
  const grant = { token: freshToken(), until: ctx.clock.now() + 60_000 };
  try {
    const { identity } = await exchangeCode(ctx, { ...made.exchange, grantFor: () => grant, ...change });
    return { status: 200, body: identity };
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    return { status: 400, body: { error: error.code, reason: error.details.reason } };
  }
}

let tokens = 0;
const freshToken = () => String(++tokens).padStart(64, '0');

/** A code that was used or replaced, and a proof that has made one that was used. */
const REFUSED = ['invalid_grant', 'proof_invalid'];

const pair: Pair = {
  world,
  async play({ act, play, isPaused }) {
    const asked = ['app', 'app again'].map((who) => act(who, (party) => exchange(party)));
    // Its answer was lost: the same proof makes another code, while none of it is used.
    const anew = act('page', async (party) => {
      const reply = await party.call('POST /authorize/code', made.authorization);
      return reply.status === 200 ? exchange(party, codeIn(reply)) : reply;
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
