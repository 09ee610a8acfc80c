import { afterAll } from 'bun:test';
import { Hex } from 'ox';
import { toBase64url, utf8 } from '../../lib/base/bytes.ts';
import { sleep } from '../../lib/base/clock.ts';
import { KEY_LOOK_LEASE_MS } from '../../lib/holders/keys-store.ts';
import { confirmRegistrations } from '../../lib/registration/confirm.ts';
import { createLooker } from '../../lib/registration/look-again.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { registerData } from '../support/onchain.ts';
import { testOrders } from '../support/orders/orders.ts';
import { must, type Pair, type Party, wordOf } from '../support/orders/play.ts';
import { claimBody, prepareWorld } from '../support/orders/worlds.ts';
import { createPasskey } from '../support/passkey.ts';
import { addKey, callAs, createSecond, removeKey } from '../support/second-account.ts';

const LINK = 'ab'.repeat(16);
const POLL_MS = 1_000;

function newDevice(name: string) {
  const passkey = createPasskey();
  const [pubKeyX, pubKeyY] = [Hex.fromBytes(passkey.key.x), Hex.fromBytes(passkey.key.y)];
  return { passkey, pubKeyX, pubKeyY, credentialId: toBase64url(utf8(name.padEnd(16, '.'))) };
}

type Device = ReturnType<typeof newDevice>;

/** An account with two keys, both known to the vault: one is lost. A link leads a new phone to it. */
const { world, made, stop } = await prepareWorld(
  async ({ rpc }) => {
    const { accountFactory2, accountHelper } = await deployContracts(rpc);
    return { ACCOUNT_FACTORY_2_ADDRESS: accountFactory2, ACCOUNT_HELPER_ADDRESS: accountHelper };
  },
  async (place) => {
    const { chain, t } = place;
    const [laptop, lost, phone] = ['laptop', 'lost', 'phone'].map(newDevice) as [Device, Device, Device];
    const account = await createSecond(chain.rpc, await deployContracts(chain.rpc), laptop.passkey.key);
    await addKey(chain.rpc, account, lost.passkey.key);
    const did = `did:pkh:eip155:84532:${account}`;
    const txHash = await callAs(chain.rpc, account, chain.registry, registerData({ did, handle: 'ada' }));
    const claimOf = ({ passkey, credentialId }: Device) =>
      claimBody(place, { passkey, credentialId, account, did, identifier: 'ada', channel: 'handle' }, txHash);
    for (const device of [laptop, lost])
      must('it is known', wordOf(await t.call('POST /api/dids', claimOf(device))), 'ok');
    await t.clock.advance(31_000);
    await t.work();
    must(
      'there is a link',
      wordOf(await t.call('POST /api/accounts/joins', { id: LINK, smartAccount: account })),
      'ok',
    );
    return { account, did, laptop, lost, phone, claim: claimOf(phone) };
  },
  ({ account, lost, phone }, { chain: { rpc } }) => ({
    'add the phone': () => addKey(rpc, account, phone.passkey.key),
    'remove the lost one': () => removeKey(rpc, account, 1, lost.passkey.key),
  }),
);
afterAll(stop);

/** Where a device's credential leads, asked with its key. */
async function lookUp(call: Party['call'], { credentialId, pubKeyX, pubKeyY }: Device): Promise<unknown> {
  const query = new URLSearchParams({ credentialId, pubKeyX, pubKeyY });
  const { status, body } = await call(`GET /api/dids/lookup?${query}`);
  return status === 200 ? [body.did, body.proven, body.final] : status;
}

const pair: Pair = {
  world,
  async play({ act, play, step, pass, isPaused }) {
    const { account, did, laptop, lost, phone, claim } = made;
    const { pubKeyX, pubKeyY } = phone;
    /** Asked again while the vault cannot tell: a pause may be longer than it waits for its node. */
    const keysOf = async ({ ctx, call }: Party): Promise<readonly { readonly x: string }[]> => {
      const ask = () => call(`GET /api/accounts/state?account=${account}`);
      let reply = await ask();
      for (; reply.status === 502; reply = await ask()) await sleep(ctx.clock, POLL_MS);
      return reply.body.keys ?? [];
    };
    /** As a wallet does: the change on-chain, then the state, and the vault looks. */
    const change = async (name: string, party: Party) => {
      const { ctx } = party;
      await step(`has the account ${name}`, () => world.chain.change(name));
      await keysOf(party);
      await createLooker()(ctx);
    };
    const joined = act('phone', async (party) => {
      const { ctx, call } = party;
      const left = { id: LINK, pubKeyX, pubKeyY, label: Hex.padLeft('0x', 32) };
      must('the link takes the key', wordOf(await call('POST /api/accounts/joins/keys', left)), 'ok');
      while (!(await keysOf(party)).some(({ x }) => x === pubKeyX)) await sleep(ctx.clock, POLL_MS);
      const reply = await call('POST /api/dids', claim);
      await confirmRegistrations(ctx);
      return reply;
    });
    act('laptop', async (party) => {
      const read = async () => (await party.call(`GET /api/accounts/joins?id=${LINK}`)).body.key;
      let key = await read();
      for (; key === null; key = await read()) await sleep(party.ctx.clock, POLL_MS);
      must('the link shows the key that was left', key.x, pubKeyX);
      await change('add the phone', party);
    });
    act('tablet', (party) => change('remove the lost one', party));
    const seen = act('reader', async ({ call }) => [await lookUp(call, lost), await lookUp(call, lost)]);
    await play();
    const [first, then] = await seen;
    if (first === 404) must('a removed key does not come back', then, 404);
    const word = wordOf(await joined);
    must('the phone joins', word, 'ok', ...(isPaused ? ['rpc_error', 'identifier_busy'] : []));
    pass(KEY_LOOK_LEASE_MS);
    const found = act('task', async ({ ctx, call }) => {
      await confirmRegistrations(ctx);
      await createLooker()(ctx);
      return [await lookUp(call, laptop), await lookUp(call, phone), await lookUp(call, lost)];
    });
    await play();
    const known = [did, true, true];
    must('the keys of the account lead to it, and no other', await found, [known, word === 'ok' ? known : 404, 404]);
  },
};

testOrders('a key that joins while another one is removed', {
  file: import.meta.path,
  pair,
  without: 'the lease of a look at its end',
  plant: {
    edits: [
      {
        find: 'END\n      WHERE account = :leased AND due_at = :leased_until',
        replace: 'END\n      WHERE account = :leased AND :leased_until > 0',
      },
    ],
  },
  violates: /the keys of the account lead to it, and no other/,
});
