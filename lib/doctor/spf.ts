// Sender Policy Framework, RFC 7208: the hosts that may send mail with addresses of a domain.
import { type Finding, fail, ok, warn } from './finding.ts';
import type { Sight } from './host.ts';

/** More look-ups than this and receivers take the record for an error (section 4.6.4). */
const LOOKUPS_MAX = 10;
/** As many records are read at most, so that a loop ends. */
const RECORDS_MAX = 20;

/** Checks the SPF record of a domain, with those that it includes. */
export async function checkSpf({ txt }: Pick<Sight, 'txt'>, domain: string, mailHost: string): Promise<Finding> {
  const records = await recordsOf(txt, domain);
  const proposal = `v=spf1 ${mailHost === '' ? 'mx' : `a:${mailHost}`} -all`;
  const publish = `publish one TXT record at ${domain}, with the servers that send for it, such as: ${proposal}`;
  if (records.length === 0)
    return warn('spf', `${domain} has no SPF record: receivers may take its mails for forged`, publish);
  if (records.length > 1)
    return fail('spf', `${domain} has ${records.length} SPF records, which receivers take for an error`, MERGE);
  const [record = ''] = records;
  const wrong = termsOf(record).find((term) => !TERM.test(term));
  if (wrong !== undefined)
    return fail('spf', `the SPF record of ${domain} has an invalid term: ${wrong.slice(0, 80)}`, publish);
  const count = await countLookups(txt, record);
  if (typeof count === 'string')
    return fail('spf', `the SPF record of ${domain} leads to ${count}, which has none`, 'remove that term');
  if (count > LOOKUPS_MAX)
    return fail(
      'spf',
      `the SPF record of ${domain} takes ${count} look-ups, and receivers stop at ${LOOKUPS_MAX}`,
      'replace include:, a and mx by ip4: and ip6:, or remove services that no longer send',
    );
  return judgeEnd(domain, record, count);
}

const MERGE = 'make them one record: the terms of all, and one of -all or ~all at the end';

function judgeEnd(domain: string, record: string, count: number): Finding {
  const end = termsOf(record).find((term) => /^[+?~-]?all$/i.test(term));
  if (end === undefined && !/\sredirect=/i.test(record))
    return warn(
      'spf',
      `the SPF record of ${domain} ends without all: it forbids nobody`,
      'add -all or ~all at its end',
    );
  if (end !== undefined && /^[+?]?all$/i.test(end))
    return warn(
      'spf',
      `the SPF record of ${domain} says ${end}: anyone may send for it`,
      `replace ${end} by -all or ~all`,
    );
  return ok('spf', `${domain} has one SPF record, ${count} of ${LOOKUPS_MAX} look-ups${end ? `, ${end}` : ''}`);
}

async function recordsOf(txt: Sight['txt'], name: string): Promise<string[]> {
  return (await txt(name)).filter((record) => /^v=spf1(?: |$)/i.test(record));
}

function termsOf(record: string): string[] {
  return record.split(/ +/).slice(1).filter(Boolean);
}

/** The look-ups of a record and of those that it leads to, or the name of one that is missing. */
async function countLookups(txt: Sight['txt'], record: string): Promise<number | string> {
  let [count, read] = [0, 0];
  let level = [record];
  while (level.length > 0) {
    const terms = level.flatMap(termsOf);
    count += terms.filter((term) => LOOKS_UP.test(term)).length;
    // The name in a macro depends on the mail.
    const names = terms.flatMap((term) => LEADS_TO.exec(term)?.[1] ?? []).filter((name) => !name.includes('%'));
    read += names.length;
    if (read > RECORDS_MAX) return count;
    const found = await Promise.all(names.map((name) => recordsOf(txt, name)));
    const missing = names.find((_, i) => found[i]?.length !== 1);
    if (missing !== undefined) return missing;
    level = found.flat();
  }
  return count;
}

const LOOKS_UP = /^[+?~-]?(?:include:|a(?:[:/]|$)|mx(?:[:/]|$)|ptr(?::|$)|exists:)|^redirect=/i;
const LEADS_TO = /^(?:[+?~-]?include:|redirect=)(.+)$/i;

/** A mechanism or a modifier (section 4.6.1), without the finer points of domains and addresses. */
const TERM =
  /^(?:[+?~-]?(?:all|(?:a|mx)(?::[^\s/]+)?(?:\/\d{1,2})?(?:\/\/\d{1,3})?|ptr(?::\S+)?|(?:include|exists):\S+|ip4:\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?|ip6:[\da-f:.]+(?:\/\d{1,3})?)|[a-z][\w.-]*=\S*)$/i;
