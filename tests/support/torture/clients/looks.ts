import { ipOf } from '../asking.ts';
import { type ClientPlace, readNow } from './client.ts';

/** Looks at something that was acknowledged at any time before. */
export async function lookBack(place: ClientPlace): Promise<void> {
  const { ledger, draw } = place;
  const kind = draw.below(3);
  if (kind === 0)
    await look(ledger.sessions.keys(), (handle) => `/api/sessions/check?identifier=${handle}&channel=handle`, isTaken);
  else if (kind === 1)
    await look(ledger.verified.keys(), (one) => `/api/verify/status?identifier=${one}&channel=email`, isProven);
  else await look(ledger.registrations.keys(), (id) => `/api/dids/lookup?credentialId=${id}`, isRegistered);

  type Is = (found: { available?: boolean; verified?: boolean; did?: string }, key: string) => boolean;

  async function look(keys: Iterable<string>, pathOf: (key: string) => string, is: Is): Promise<void> {
    const all = [...keys];
    const key = all[draw.below(all.length || 1)];
    if (key === undefined) return;
    const found = await readNow(place, pathOf(key), ipOf(place.next()));
    if (found === undefined) return;
    ledger.checked('looked back');
    if (!is(found, key)) ledger.violate('an acknowledged write is there', `${key}: ${JSON.stringify(found)}`);
  }

  function isTaken({ available }: { available?: boolean }): boolean {
    return available === false;
  }

  function isProven({ verified }: { verified?: boolean }): boolean {
    return verified === true;
  }

  function isRegistered({ did }: { did?: string }, key: string): boolean {
    return did === ledger.registrations.get(key)?.did;
  }
}
