import { afterAll } from 'bun:test';
import { Hash, type Hex } from 'ox';
import { RELAY_WAIT_MS } from '../../lib/registration/relay-request.ts';
import { createCandidate } from '../support/candidates.ts';
import { testOrders } from '../support/orders/orders.ts';
import { must, type Pair, wordOf } from '../support/orders/play.ts';
import { prepareWorld } from '../support/orders/worlds.ts';

/** Somebody who asks the vault to register them, by two devices. */
const { world, made, stop } = await prepareWorld({}, ({ chain, t }) => createCandidate(chain, 'ada', t.clock.now()));
afterAll(stop);

/** Who asks longer than a vault waits hears that nothing was sent, or that a transaction is on its way. */
const GIVEN_UP = ['rpc_error', 'identifier_busy'];

const pair: Pair = {
  world,
  async play({ act, play, step, pass }) {
    const { chain, database } = world;
    const ask = (who: string) => act(who, ({ call }) => call('POST /api/dids', made.body));
    const relay = () => act('task', async ({ ctx }) => ctx.relay?.runNow());
    const asked = [ask('phone'), ask('laptop')];
    relay();
    act('time', () => step('the wait is over', () => pass(RELAY_WAIT_MS)));
    await play();
    const replies = await Promise.all(asked);
    for (const reply of replies) must('everybody hears what became of it', wordOf(reply), 'ok', ...GIVEN_UP);
    const won = replies.filter((reply) => wordOf(reply) === 'ok');
    must('what was given up is not sent, and nothing twice', chain.changes().length, Math.min(1, won.length));
    const sent = () => chain.changes().map((raw) => Hash.keccak256(raw as Hex.Hex));
    for (const { body } of won) must('everybody hears the transaction', body.txHash, ...sent());
    const used = database.rows('SELECT signature FROM attestation_uses').length;
    must('who is registered has used the attestation, and nobody else', used, Math.min(1, won.length));
    const later = ask('phone');
    await play();
    must('it can be asked for again', wordOf(await later), 'ok');
    relay();
    await play();
    must('it is registered once', sent().length, 1);
    const rows = database.rows(`SELECT status, holds FROM registrations WHERE status <> 'failed'`);
    must('the registration holds the address', rows, [{ status: 'confirmed', holds: 1 }]);
  },
};

testOrders('a relay and a request that is given up', {
  file: import.meta.path,
  pair,
  without: 'the condition that a relay is still queued when it is signed',
  plant: {
    edits: [
      { find: `WHERE id = :id AND status = 'queued'\n          AND EXISTS`, replace: 'WHERE id = :id AND EXISTS' },
    ],
  },
  violates: /what was given up is not sent, and nothing twice: [12]|who is registered has used the attestation/,
});
