// DMARC, RFC 7489: the policy of receivers for mails of a domain that neither SPF nor DKIM vouches for.
import { tagsOf } from './dkim.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import type { Sight } from './host.ts';

/** The most names that are asked on the way from the domain up. */
const NAMES_MAX = 8;

/** Checks the DMARC record that holds for a domain. The vault signs for that domain itself, so it is always aligned. */
export async function checkDmarc({ txt }: Pick<Sight, 'txt'>, domain: string): Promise<Finding> {
  const found = await findRecord(txt, domain);
  const proposal = `v=DMARC1; p=quarantine; rua=mailto:postmaster@${domain}`;
  if (!found)
    return warn(
      'dmarc',
      `${domain} has no DMARC record: large receivers ask for one`,
      `publish one TXT record at _dmarc.${domain}: ${proposal}`,
    );
  const { at, records } = found;
  const publish = `publish one TXT record at ${at}: ${proposal}`;
  if (records.length > 1)
    return fail('dmarc', `there are ${records.length} DMARC records at ${at}: receivers ignore them`, publish);
  const tags = tagsOf(records[0] ?? '');
  const isOwn = at === `_dmarc.${domain}`;
  const policy = (isOwn ? undefined : tags.get('sp')) ?? tags.get('p') ?? '';
  if (!['none', 'quarantine', 'reject'].includes(policy))
    return fail('dmarc', `the DMARC record at ${at} has no policy (p=)`, publish);
  if (policy === 'none')
    return warn(
      'dmarc',
      `the DMARC record at ${at} says none: mails in your name reach people from any sender`,
      'set p=quarantine, once its reports (rua=) show that your own mails pass',
    );
  return ok('dmarc', `${at} says ${policy}`);
}

/** The record of the domain, or of the nearest one above it that has one. */
async function findRecord(
  txt: Sight['txt'],
  domain: string,
): Promise<{ readonly at: string; readonly records: readonly string[] } | undefined> {
  const labels = domain.split('.');
  for (let i = 0; i < Math.min(labels.length - 1, NAMES_MAX); i++) {
    const at = `_dmarc.${labels.slice(i).join('.')}`;
    const records = (await txt(at)).filter((record) => /^v=DMARC1\s*(?:;|$)/.test(record));
    if (records.length > 0) return { at, records };
  }
  return undefined;
}
