import { ipOf } from '../asking.ts';
import { type ClientPlace, isTimeOff, readNow } from './client.ts';

/** Opens a session, at times beside a rival and at times with a key, and looks whether all vaults know it at once. */
export async function openSession(place: ClientPlace): Promise<void> {
  const { ledger, asking, draw } = place;
  const n = place.next();
  const handle = `torture${n}`;
  const key = draw.below(2) === 0 ? { 'Idempotency-Key': `key-${n}` } : {};
  const claim = (did: string, headers = {}) =>
    asking.insist({ path: '/api/sessions', ip: ipOf(place.next()), body: { handle, did }, headers });
  const hasRival = draw.below(3) === 0;
  const [own, other] = await Promise.all([
    claim(`did:key:z${n}`, key),
    hasRival ? claim(`did:key:zRival${n}`) : undefined,
  ]);
  const won = [own, other].filter((one) => one?.status === 200);
  // By the clock of a vault that is a day ahead the other's session has lapsed.
  if (isTimeOff(place)) return;
  if (won.length > 1) ledger.violate('no answer is a lie', `${handle} was given to two`);
  const isRefused = own?.status === 409 && own.body.error === 'identifier_taken';
  if (!hasRival && own && !own.isUnsure && own.status !== 200)
    ledger.violate('no answer is a lie', `${handle} is nobody's: ${own.status} ${JSON.stringify(own.body)}`);
  if (own && own.status !== 200 && !isRefused && hasRival)
    ledger.violate('no answer is a lie', `${handle}: ${own.status} ${JSON.stringify(own.body)}`);
  if (won.length !== 1) return;
  const did = own?.status === 200 ? `did:key:z${n}` : `did:key:zRival${n}`;
  ledger.sessions.set(handle, did);
  await isKnown(place, handle);
  // Soon after another one: who keeps a count shows it now.
  if (draw.below(2) === 0) await countSessions(place);
  if (own?.status === 200 && 'Idempotency-Key' in key && !isTimeOff(place)) {
    const again = await claim(did, key);
    ledger.checked('replay');
    if (again && again.status !== 200 && again.body.error !== 'idempotency_key_in_use' && !isTimeOff(place))
      ledger.violate('no answer is a lie', `${handle} with its key again: ${again.status}`);
  }
}

async function isKnown(place: ClientPlace, handle: string): Promise<void> {
  const found = await readNow(place, `/api/sessions/check?identifier=${handle}&channel=handle`, ipOf(place.next()));
  if (found === undefined) return;
  place.ledger.checked('session is known elsewhere');
  if (found.available !== false)
    place.ledger.violate('no process answers older than what was acknowledged', `${handle}: ${JSON.stringify(found)}`);
}

/** Counts: what a vault says that there are must be no less than what was acknowledged before it was asked. */
export async function countSessions(place: ClientPlace): Promise<void> {
  const { ledger } = place;
  const least = ledger.sessions.size;
  const found = await readNow(place, '/api/sessions/status', ipOf(place.next()));
  if (found === undefined || isTimeOff(place)) return;
  ledger.checked('sessions counted');
  if (!(found.total_registrations >= least)) {
    const detail = `${found.total_registrations} of ${least} sessions`;
    ledger.violate('no process answers older than what was acknowledged', detail);
  }
}
