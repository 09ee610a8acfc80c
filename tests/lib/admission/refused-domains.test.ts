import { afterAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { operatorFiles } from '../../../commands/setup/operator-files.ts';
import {
  createRefusedDomains,
  parseDomains,
  REFUSED_DOMAINS_BYTES_MAX,
} from '../../../lib/admission/refused-domains.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram } from '../../support/run.ts';

const DOCUMENT = readFileSync(join(import.meta.dir, '../../../docs/admission.md'), 'utf8');

const folder = temporaryFolder();
afterAll(() => folder.remove());

function file(content: string | Uint8Array): string {
  const path = join(folder.path, 'refused.txt');
  writeFileSync(path, content);
  return path;
}

const open = (path: string) => createRefusedDomains({ refusedMailDomainsFile: path }, operatorFiles);

test('the file of docs/admission.md', () => {
  const blocks = DOCUMENT.split('```').filter((_, i) => i % 2 === 1);
  const example = blocks.find((block) => block.includes('trash.example')) ?? '';
  expect([...parseDomains(example)]).toEqual(['trash.example', 'xn--mnchen-3ya.example']);
});

test('a domain is refused with those below it, and no other', () => {
  const domains = open(file('trash.example\nxyz\n'));
  const asked = [
    'trash.example',
    'a.trash.example',
    'atrash.example',
    'example',
    'trash.example.com',
    'a.xyz',
    'xyz.com',
  ];
  expect(asked.map((domain) => [domain, domains.has(domain)])).toEqual(
    asked.map((domain) => [domain, ['trash.example', 'a.trash.example', 'a.xyz'].includes(domain)]),
  );
});

test('is read again only when it has changed', () => {
  const domains = open(file('a.example\n'));
  expect(domains.reload()).toBeUndefined();
  file('a.example\nb.example\n');
  expect([domains.reload(), domains.has('b.example')]).toEqual([2, true]);
  file('# none any more\n');
  expect([domains.reload(), domains.has('a.example')]).toEqual([0, false]);
});

describe('what cannot be used ends the start', () => {
  test.each([
    ['a.example\n\nno domain\n', 'has no domain in line 3'],
    ['someone@a.example', 'has no domain in line 1'],
    ['127.0.0.1', 'has no domain in line 1'],
    ['https://a.example', 'has no domain in line 1'],
  ])('%p', (content, problem) => {
    expect(() => open(file(content))).toThrow(`REFUSED_MAIL_DOMAINS_FILE names a file that ${problem}`);
  });

  test('a file that is too large', () => {
    const path = file(new Uint8Array(REFUSED_DOMAINS_BYTES_MAX + 1));
    expect(() => open(path)).toThrow('names a file that cannot be read: it is larger than 8388608 bytes');
  });

  test('a file that is not there, and a host without files', () => {
    expect(() => open(join(folder.path, 'none.txt'))).toThrow('names a file that does not exist');
    expect(() => createRefusedDomains({ refusedMailDomainsFile: 'a' }, undefined)).toThrow('env.operatorFiles');
    expect(createRefusedDomains({ refusedMailDomainsFile: undefined }, undefined).has('a.example')).toBe(false);
  });

  test('the program says so with 2', async () => {
    const vars = { REFUSED_MAIL_DOMAINS_FILE: file('a.example\n!\n'), PORT: '0' };
    const { code, err } = await runProgram(['serve'], { cwd: folder.path, vars });
    expect([code, err]).toEqual([2, expect.stringContaining('has no domain in line 2')]);
  });
});
