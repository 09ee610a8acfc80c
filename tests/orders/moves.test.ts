import { afterAll } from 'bun:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8 } from '../../lib/base/bytes.ts';
import { HOUR_MS } from '../../lib/base/clock.ts';
import { noteTime } from '../../lib/db/clocks.ts';
import { createMover } from '../../lib/moves/move.ts';
import { confirmRegistrations } from '../../lib/registration/confirm.ts';
import { OPERATOR } from '../support/events.ts';
import { testOrders } from '../support/orders/orders.ts';
import { must, type Pair, type Party, wordOf } from '../support/orders/play.ts';
import { claimBody, prepareWorld } from '../support/orders/worlds.ts';
import { createPeople, type Person } from '../support/people.ts';
import { nonceFor, originOf } from '../support/touch.ts';

/** Somebody's address that another has claimed: its wait is over, and a third person has claimed it too. */
const { world, made, stop } = await prepareWorld({ MAX_VERIFY_SENDS_PER_IP: '100' }, async (place) => {
  const { chain, t } = place;
  const people = createPeople(chain, () => t);
  const owner = await people.own('email');
  const at = async (): Promise<Person> => ({ ...(await people.own('email')), identifier: owner.identifier });
  const look = async () => {
    await t.clock.advance(30_000);
    await t.work();
  };
  const claim = async (who: Person, txHash: string) => {
    const { status } = await t.call('POST /api/dids', claimBody(place, who, txHash, await people.attest(who)));
    must('it is claimed', status, 200);
    await look();
  };
  const { txHash } = await people.publish(owner);
  await claim(owner, txHash);
  const thief = await at();
  await claim(thief, (await people.publish(thief)).txHash);
  await look();
  await t.clock.advance(71 * HOUR_MS);
  const third = await at();
  const { txHash: thirds } = await people.publish(third);
  await t.clock.advance(2 * HOUR_MS);
  await chain.rpc('evm_setNextBlockTimestamp', [Math.floor(t.clock.now() / 1000)]);
  await chain.mine(1);
  // A vault was there all the time.
  await t.database.execute(noteTime(t.clock.now()));
  const renewal = claimBody(place, owner, txHash, await people.attest(owner));
  await t.clock.advance(1_000);
  const replacement = claimBody(place, third, thirds, await people.attest(third));
  const registrar = (await t.call('GET /api/contracts')).body.registrar;
  const lines = ['vault/release/v1', registrar, `email:${owner.identifier}`, thief.did];
  const nonce = await nonceFor(t, lines.join('\n'));
  const proof = owner.passkey.assert(sha256(utf8([...lines, nonce].join('\n'))), { origin: originOf(t) });
  const release = { identifier: owner.identifier, channel: 'email', proof, nonce };
  return { owner, thief, third, renewal, replacement, release };
});
afterAll(stop);

/** Each planted fault is found within 13 orders, by six seeds. */
const ORDERS = 150;

const GIVEN_UP = ['identifier_busy', 'rpc_error', 'attestation_expired', 'attestation_invalid', 'proof_invalid'];

/** The live claims of the address by DID: whether each holds it, and has lost it. */
function claims() {
  const rows = world.database.rows(`SELECT did, holds, lost IS NOT NULL AS lost FROM registrations
    WHERE status <> 'failed' ORDER BY id`);
  return new Map(rows.map(({ did, holds, lost }) => [did, { holds: holds === 1, isLost: lost === 1 }]));
}
const holder = () => world.database.rows('SELECT did FROM registrations WHERE holds = 1').map(({ did }) => did);
const ends = () => world.database.rows(`SELECT data FROM events WHERE type = 'registration.challenge_ended'`).length;

/** A turn of the mover of a process. */
const move = ({ ctx }: Party) => createMover()(ctx);

const renewal: Pair = {
  world,
  async play({ act, play, isPaused }) {
    const { owner, thief } = made;
    const renewed = act('holder', ({ call }) => call('POST /api/dids', made.renewal));
    act('mover', move);
    await play();
    const reply = await renewed;
    must('the holder hears', wordOf(reply), 'ok', ...(isPaused ? GIVEN_UP : []));
    if (wordOf(reply) !== 'ok') return;
    const isKept = reply.body.holds !== false;
    must('the address is whose the answer says', holder(), [isKept ? owner.did : thief.did]);
    must('who was refused has lost it', claims().get(thief.did)?.isLost, isKept);
  },
};

testOrders('a renewal and the move', {
  file: import.meta.path,
  pair: renewal,
  orders: ORDERS,
  without: 'the condition that the renewed claim holds the address',
  plant: {
    edits: [
      { find: 'FROM registrations WHERE id = :id AND holds = 1)', replace: 'FROM registrations WHERE id = :id)' },
    ],
  },
  violates: /the address is whose the answer says|who was refused has lost it/,
});

const release: Pair = {
  world,
  async play({ act, play, isPaused }) {
    const { owner, thief, third } = made;
    const released = act('holder', ({ call }) => call('POST /api/dids/release', made.release));
    const claimed = act('third', async (party) => {
      const reply = await party.call('POST /api/dids', made.replacement);
      await confirmRegistrations(party.ctx);
      await move(party);
      return reply;
    });
    await play();
    const [word, asked] = [wordOf(await released), wordOf(await claimed)];
    must('the third person hears', asked, 'ok', ...(isPaused ? GIVEN_UP : []));
    must('the holder hears', word, 'ok', 'no_challenge', 'proof_invalid', ...(isPaused ? GIVEN_UP : []));
    // Nobody but the DID that the holder signed for, or the one that another mover had let have it before.
    if (word === 'ok') must('who was let have it has it', holder(), [thief.did]);
    else must('the address stays', holder(), [owner.did], [thief.did]);
    must('the third person waits', claims().get(third.did)?.holds ?? false, false);
  },
};

testOrders('a release and a replacement', {
  file: import.meta.path,
  pair: release,
  orders: ORDERS,
  without: 'the condition that the claim stands',
  plant: { edits: [{ find: 'AND claim.lost IS NULL AND claim.proof', replace: 'AND claim.proof' }] },
  violates: /who was let have it has it/,
});

const undo: Pair = {
  world,
  async play({ act, play, isPaused }) {
    const { owner, thief } = made;
    const [row] = world.database.rows(`SELECT max(id) AS id FROM registrations`);
    const path = 'POST /v1/console/registrations/undo';
    const undone = act('operator', ({ call }) => call(path, { id: row?.['id'] }, OPERATOR));
    act('mover', move);
    await play();
    const word = wordOf(await undone);
    must('the operator undoes it', word, 'ok', ...(isPaused ? GIVEN_UP : []));
    if (word !== 'ok') return;
    must('who had the address has it', holder(), [owner.did]);
    must('the claim is undone', claims().has(thief.did), false);
    must('its challenge ends once', ends(), 1);
  },
};

testOrders('an undo and the move', {
  file: import.meta.path,
  pair: undo,
  orders: ORDERS,
  without: 'the lease of a challenge and the condition that it stands',
  plant: {
    edits: [
      { find: `, due_at = NULL WHERE`, replace: ' WHERE' },
      { find: 'AND ended_at IS NULL AND judged_at IS NOT NULL', replace: 'AND judged_at IS NOT NULL' },
    ],
  },
  violates: /its challenge ends once/,
});
