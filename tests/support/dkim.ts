import { createHash, type KeyObject, verify } from 'node:crypto';

/** What a receiver makes of a mail's DKIM signature (RFC 6376) with the public key of its selector. */
export interface DkimVerdict {
  readonly domain: string | undefined;
  readonly selector: string | undefined;
  /** The signed header fields, in lower case. */
  readonly fields: readonly string[];
  readonly isBodyIntact: boolean;
  readonly isSignatureGood: boolean;
}

/** Checks the signature of a raw mail, `relaxed/relaxed` and `rsa-sha256`; undefined where there is none. */
export function checkDkim(raw: string, key: KeyObject): DkimVerdict | undefined {
  const at = raw.indexOf('\r\n\r\n');
  const headers = raw.slice(0, at).split(/\r\n(?![ \t])/);
  const nameOf = (line: string) => line.slice(0, line.indexOf(':')).trim().toLowerCase();
  const own = headers.find((line) => nameOf(line) === 'dkim-signature');
  if (own === undefined) return undefined;
  const tags = new Map(
    own
      .slice(own.indexOf(':') + 1)
      .split(';')
      .map((tag): [string, string] => [
        tag.split('=')[0]?.trim() ?? '',
        tag.slice(tag.indexOf('=') + 1).replace(/\s/g, ''),
      ]),
  );
  if (tags.get('a') !== 'rsa-sha256' || tags.get('c') !== 'relaxed/relaxed') return undefined;
  const fields = (tags.get('h') ?? '').toLowerCase().split(':');
  const left = [...headers];
  const signed = fields.flatMap((field) => {
    const index = left.findLastIndex((line) => nameOf(line) === field);
    return index < 0 ? [] : left.splice(index, 1);
  });
  const unsigned = own.replace(/([;\s]b=)[^;]*$/, '$1');
  const data = `${signed.map((line) => `${relaxedHeader(line)}\r\n`).join('')}${relaxedHeader(unsigned)}`;
  const body = createHash('sha256')
    .update(relaxedBody(raw.slice(at + 4)), 'latin1')
    .digest('base64');
  const signature = Buffer.from(tags.get('b') ?? '', 'base64');
  return {
    domain: tags.get('d'),
    selector: tags.get('s'),
    fields,
    isBodyIntact: body === tags.get('bh'),
    isSignatureGood: verify('sha256', Buffer.from(data, 'latin1'), key, signature),
  };
}

function relaxedHeader(line: string): string {
  const value = line
    .slice(line.indexOf(':') + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .trim();
  return `${line.slice(0, line.indexOf(':')).trim().toLowerCase()}:${value}`;
}

function relaxedBody(body: string): string {
  const lines = body.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''));
  while (lines.at(-1) === '') lines.pop();
  return lines.length === 0 ? '' : `${lines.join('\r\n')}\r\n`;
}
