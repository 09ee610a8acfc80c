import { isoTime } from '../base/clock.ts';
import { appChecks } from './apps.ts';
import { backupChecks } from './backup.ts';
import { chainChecks } from './chain.ts';
import { credentialChecks } from './credentials.ts';
import { deliveryChecks } from './delivery.ts';
import { byArea, type DoctorCheck, type DoctorReport, runChecks } from './finding.ts';
import type { DoctorHost, Examined } from './host.ts';
import { mailDnsChecks } from './mail-dns.ts';
import { networkChecks } from './network.ts';
import { peopleChecks } from './people.ts';

/**
 * Runs every check once and resolves with the findings. Changes nothing and never throws. `more` runs beside the
 * others; `timeoutMs` is of each check.
 */
export async function examine(
  { host, ...rest }: Omit<Examined, 'host'> & { readonly host: DoctorHost | undefined },
  more: readonly DoctorCheck[] = [],
  timeoutMs?: number,
): Promise<DoctorReport> {
  const examined: Examined = { ...rest, host };
  const { clock } = examined;
  const checkedAt = isoTime(clock.now());
  const checks = [
    backupChecks,
    chainChecks,
    deliveryChecks,
    mailDnsChecks,
    peopleChecks,
    appChecks,
    credentialChecks,
    networkChecks,
  ].flatMap((list) => list(examined));
  const found = await runChecks(clock, [...more, ...checks], timeoutMs);
  // The disk is looked at after the network, because the program's check of the database lets nothing else run.
  return { checkedAt, checks: byArea([...found, ...(await runChecks(clock, host?.checks ?? [], timeoutMs))]) };
}
