import type { BoundStatement } from '../../../commands/storage/statements.ts';
import { CLIENTS_LIKE, LAPSED_MS, type Ledger, SESSIONS_LIKE } from '../../support/torture/ledger.ts';
import type { SimulatedWorld } from './world.ts';

/**
 * What of the invariants one commit can break: checked after each, by what is in the tables that its statements name.
 * No trigger changes any of these.
 */
export function checkCommits(
  { disk, receiver }: Pick<SimulatedWorld, 'disk' | 'receiver'>,
  ledger: Ledger,
): (statements?: readonly BoundStatement[]) => void {
  let newest = 0;
  let [verified, heard] = [0, 0];
  const came = new Set<number>();
  const used = new Set<number>();
  const opened = new Map<string, number>();
  const first = (sql: string) => disk.rows(sql)[0] ?? {};

  function checkEvents(): void {
    const sql = `SELECT id, type, at, did, ${SESSIONS_LIKE} AS is_once FROM
      (SELECT *, json_extract(data, '$.did') AS did FROM events WHERE id > :newest) ORDER BY id`;
    for (const { id, type, at, did, is_once: isOnce } of disk.rows(sql, { newest })) {
      newest = Number(id);
      if (type === 'code.verified') verified++;
      if (type !== 'session.created' || isOnce !== 1) continue;
      if (Math.abs((opened.get(`${did}`) ?? Number.POSITIVE_INFINITY) - Number(at)) < LAPSED_MS)
        ledger.violate('no registration is doubled', `two sessions of ${did} were created`);
      opened.set(`${did}`, Number(at));
    }
  }

  function checkUses(): void {
    if (verified > used.size)
      ledger.violate('each code verifies once', `${verified} events of ${used.size} codes that were used`);
  }

  function checkCodes(): void {
    for (const { seq } of disk.rows('SELECT seq FROM codes WHERE consumed_at IS NOT NULL')) used.add(Number(seq));
    const { attempts } = first('SELECT max(attempts) AS attempts FROM codes');
    if (Number(attempts) > ATTEMPTS_MAX) ledger.violate('no limit is exceeded', `${attempts} guesses at a code`);
  }

  function checkClaims(): void {
    const twice = first(`SELECT identifier, did, count(*) AS n FROM registrations WHERE ${CLIENTS_LIKE}
      AND status <> 'failed' GROUP BY identifier, did, credential_id HAVING n > 1`);
    if (twice['n'] !== undefined)
      ledger.violate('no registration is doubled', `${twice['identifier']} of ${twice['did']} is there twice`);
    const spent = first(`SELECT identifier, count(*) AS n FROM registrations WHERE ${CLIENTS_LIKE}
      GROUP BY identifier HAVING n > 1`);
    if (spent['n'] !== undefined)
      ledger.violate('no attestation is used twice', `${spent['identifier']}: ${spent['n']} claims`);
  }

  function checkDeliveries(): void {
    for (; heard < receiver.received.length; heard++) came.add(Number(receiver.received[heard]?.body.id));
    for (const { event_id: id } of disk.rows(`SELECT event_id FROM webhook_deliveries WHERE status = 'delivered'
      ORDER BY event_id DESC LIMIT ${NEWEST}`))
      if (!came.has(Number(id)))
        ledger.violate(
          'webhooks arrive at least once, as they were signed',
          `${id} counts as delivered, and never came`,
        );
  }

  return (statements) => {
    const isNamed = (table: string) => statements?.some(({ sql }) => sql.includes(table)) ?? true;
    if (isNamed('events')) checkEvents();
    if (isNamed('codes')) checkCodes();
    checkUses();
    if (isNamed('registrations')) checkClaims();
    if (isNamed('webhook_deliveries')) checkDeliveries();
  };
}

const ATTEMPTS_MAX = 5;
/** Deliveries that are looked at after each commit; the audit looks at all. */
const NEWEST = 50;
