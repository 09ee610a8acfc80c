// DKIM keys in DNS, RFC 6376 section 3.6.1: whether receivers can check the vault's signatures.
import { type Finding, fail, ok, warn } from './finding.ts';
import type { Sight } from './host.ts';

/** The key that signs mails; `publicKey` is that of the private key, SubjectPublicKeyInfo in base64. */
export interface DkimKey {
  readonly domain: string;
  readonly selector: string;
  readonly publicKey: string;
}

/** Checks that the public half of the signing key is published. */
export async function checkDkim({ txt }: Pick<Sight, 'txt'>, key: DkimKey): Promise<Finding> {
  const name = `${key.selector}._domainkey.${key.domain}`;
  const publish = `publish one TXT record at ${name}: v=DKIM1; k=rsa; p=${key.publicKey}`;
  const records = await txt(name);
  if (records.length === 0) return fail('dkim', `mails are signed, but there is no key at ${name}`, publish);
  if (records.length > 1) return fail('dkim', `there are ${records.length} records at ${name}`, publish);
  const tags = tagsOf(records[0] ?? '');
  const published = tags.get('p');
  if (published === '') return fail('dkim', `the key at ${name} is revoked: its p= is empty`, publish);
  if (published === undefined || !['DKIM1', undefined].includes(tags.get('v')))
    return fail('dkim', `the record at ${name} is not a DKIM key`, publish);
  if ((tags.get('k') ?? 'rsa') !== 'rsa' || published !== key.publicKey)
    return fail('dkim', `the key at ${name} is not the public half of DKIM_PRIVATE_KEY`, publish);
  if (!(tags.get('h') ?? 'sha256').split(':').includes('sha256'))
    return fail('dkim', `the record at ${name} forbids sha256 (h=), by which mails are signed`, publish);
  if ((tags.get('t') ?? '').split(':').includes('y'))
    return warn('dkim', `the key at ${name} is marked as a test (t=y)`, 'remove t=y from the record');
  return ok('dkim', `the key at ${name} is that of DKIM_PRIVATE_KEY`);
}

/** The tags of a record of DKIM or DMARC; white space inside a value does not count. */
export function tagsOf(record: string): ReadonlyMap<string, string> {
  const tags = record.split(';').flatMap((tag) => {
    const at = tag.indexOf('=');
    return at < 0 ? [] : [[tag.slice(0, at).trim().toLowerCase(), tag.slice(at + 1).replace(/\s/g, '')] as const];
  });
  return new Map(tags);
}
