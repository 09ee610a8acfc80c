import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperatorFiles } from '../../../lib/base/operator-files.ts';
import { readClients } from '../../../lib/clients/clients-file.ts';
import { createClientSecret, isSecretOf, secretDigest } from '../../../lib/clients/secret.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { openDraw } from '../../support/draw.ts';
import { SEED } from '../../support/seed.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const DOCUMENT = readFileSync(join(import.meta.dir, '../../../docs/openid.md'), 'utf8');
const CONFIG = { clients: 'clients.json', apps: ['tea', 'wiki'] };
const DIGEST = `sha256:${'9f'.repeat(32)}`;
const URIS = ['https://tea.example/back'];

/** A host with one file of that text. */
const fileOf = (text: string): OperatorFiles => ({ read: () => new TextEncoder().encode(text), list: () => [] });
const read = (entries: unknown) => readClients(CONFIG, fileOf(JSON.stringify(entries)));

describe('CLIENTS', () => {
  test('unset: there are none', () => {
    expect(readClients({ clients: undefined, apps: [] }, undefined)).toBeUndefined();
  });

  test('needs REGISTRAR_PRIVATE_KEY', () => {
    const vars = { VAULT_SECRET, CLIENTS: 'clients.json', APPS: 'tea' };
    expect(() => readConfig(vars)).toThrow(/REGISTRAR_PRIVATE_KEY.*CLIENTS is/);
    expect(() => readConfig({ ...vars, CLIENTS: undefined })).not.toThrow(/CLIENTS is/);
  });

  test('the example of docs/openid.md', () => {
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(DOCUMENT) ?? [];
    const clients = readClients({ clients: 'clients.json', apps: ['tea', 'wiki', 'page'] }, fileOf(example));
    expect(
      Array.from(clients?.values() ?? [], ({ id, secrets, needsPkce }) => [id, secrets.length, needsPkce]),
    ).toEqual([
      ['tea', 1, true],
      ['wiki', 1, false],
      ['page', 0, true],
    ]);
  });

  test('a confidential client, one whose PKCE is optional, and a public one', () => {
    const clients = read({
      tea: { redirect_uris: URIS, secrets: [DIGEST], pkce: 'optional', sector: 'houses' },
      wiki: { redirect_uris: ['http://localhost:4001/in?from=vault', 'https://wiki.example/'] },
    });
    expect([...(clients ?? [])]).toEqual([
      ['tea', { id: 'tea', redirectUris: URIS, secrets: [DIGEST], needsPkce: false, sector: 'houses', resources: [] }],
      [
        'wiki',
        {
          id: 'wiki',
          redirectUris: ['http://localhost:4001/in?from=vault', 'https://wiki.example/'],
          secrets: [],
          needsPkce: true,
          sector: 'wiki',
          resources: [],
        },
      ],
    ]);
  });

  test.each<[string, unknown, string]>([
    ['an app that is not in APPS', { shop: {} }, 'names the app shop, which is not in APPS'],
    [
      'a value in place of an app',
      { 'https://secret.example/x': {} },
      'has a name that no app can have: 1 to 64 of a-z, 0-9 and -, as in APPS',
    ],
    ['a name in capitals', { Tea: {} }, 'has a name that no app can have: 1 to 64 of a-z, 0-9 and -, as in APPS'],
    ['no object', [], 'names a file that is not a JSON object'],
    ['an entry that is no object', { tea: 'x' }, 'is wrong for the app tea: it must be an object'],
    ['no redirect URI', { tea: {} }, 'is wrong for the app tea: redirect_uris is missing'],
    ['an empty list', { tea: { redirect_uris: [] } }, 'redirect_uris must have 1 to 20 entries'],
    ['a URI twice', { tea: { redirect_uris: [...URIS, ...URIS] } }, 'redirect_uris has an entry twice'],
    [
      'a pattern',
      { tea: { redirect_uris: ['https://tea.example/*'] } },
      'redirect_uris has a *, and takes no patterns',
    ],
    ['21 URIs', { tea: { redirect_uris: Array(21).fill('https://x.example/') } }, 'must have 1 to 20 entries'],
    ['no list', { tea: { redirect_uris: 'https://x.example/' } }, 'redirect_uris must be a list of texts'],
    ['a secret itself', { tea: { redirect_uris: URIS, secrets: ['hunter2'] } }, 'each of secrets must be a digest'],
    ['no secrets at all', { tea: { redirect_uris: URIS, secrets: [] } }, 'secrets must have 1 or 2 entries'],
    ['three secrets', { tea: { redirect_uris: URIS, secrets: ['0', '1', '2'] } }, 'secrets must have 1 or 2 entries'],
    ['a secret twice', { tea: { redirect_uris: URIS, secrets: [DIGEST, DIGEST] } }, 'secrets has an entry twice'],
    [
      'optional PKCE of a public client',
      { tea: { redirect_uris: URIS, pkce: 'optional' } },
      'clients with secrets alone',
    ],
    [
      'PKCE of another word',
      { tea: { redirect_uris: URIS, secrets: [DIGEST], pkce: 'none' } },
      'pkce must be "optional"',
    ],
    ['a sector that is no name', { tea: { redirect_uris: URIS, sector: 'https://x' } }, 'sector must have 1 to 64'],
    [
      'an unknown member',
      { tea: { redirect_uris: URIS, scopes: [] } },
      'only redirect_uris, secrets, pkce, sector and resources',
    ],
  ])('refused: %s', (_, entries, problem) => {
    const say = () => read(entries);
    expect(say).toThrow(`CLIENTS`);
    expect(say).toThrow(problem);
    for (const value of ['hunter2', 'secret.example', 'x.example']) expect(say).not.toThrow(value);
  });

  test.each([
    'http://tea.example/back',
    'https://tea.example',
    'https://tea.example/back#in',
    'https://tea.example/back#',
    'https://me@tea.example/back',
    'https://tea.example:443/back',
    'https://tea.example/x/../back',
    'javascript:alert(1)',
    'com.example.tea:/back',
    'https://tea.example/back?error_description=x',
    'https://tea.example/back?iss=x',
  ])('refused: the redirect URI %s', (uri) => {
    expect(() => read({ tea: { redirect_uris: [uri] } })).toThrow('each of redirect_uris must be a URI as a browser');
  });

  test('as many as there may be: 20 redirect URIs, two secrets', () => {
    const uris = Array.from({ length: 20 }, (_, i) => `https://tea.example/${i}`);
    const secrets = [DIGEST, `sha256:${'0'.repeat(64)}`];
    expect(read({ tea: { redirect_uris: uris, secrets } })?.get('tea')).toMatchObject({ redirectUris: uris, secrets });
    const more = uris.map((uri) => `${uri}x`);
    expect(() => read({ tea: { redirect_uris: [...uris, more[0]] } })).toThrow('must have 1 to 20 entries');
  });

  test('resources: a URL, or one with its scopes, in the sector of the app; an app may have no page', () => {
    const resources = ['https://mcp.tea.example/', { url: 'http://localhost:4002/mcp', scopes: ['notes:read'] }];
    expect(read({ tea: { resources, sector: 'houses' } })?.get('tea')).toEqual({
      ...{ id: 'tea', redirectUris: [], secrets: [], needsPkce: true, sector: 'houses' },
      resources: [
        { url: 'https://mcp.tea.example/', scopes: [], app: 'tea', sector: 'houses' },
        { url: 'http://localhost:4002/mcp', scopes: ['notes:read'], app: 'tea', sector: 'houses' },
      ],
    });
  });

  const MCP = 'https://mcp.x.example/';
  test.each<[string, unknown, string]>([
    ['no list', MCP, 'resources must be a list'],
    ['none', [], 'resources must have 1 to 20 entries'],
    ['one twice', [MCP, { url: MCP, scopes: ['x'] }], 'resources has an entry twice'],
    ['http', ['http://mcp.x.example/'], 'each of resources must be a URL as a browser writes it, https'],
    ['no URL', ['mcp.x.example'], 'each of resources must be a URL'],
    ['a URL that a browser writes otherwise', ['https://mcp.x.example'], 'each of resources must be a URL'],
    ['a fragment', ['https://mcp.x.example/#'], 'each of resources must be a URL'],
    ['a user', ['https://me@mcp.x.example/'], 'each of resources must be a URL'],
    ['no scopes', [{ url: MCP, scopes: [] }], 'each of resources must be a URL'],
    ['a scope of OpenID Connect', [{ url: MCP, scopes: ['email'] }], 'none of OpenID Connect'],
    ['two scopes in one', [{ url: MCP, scopes: ['a b'] }], 'none of OpenID Connect'],
  ])('refused: resources with %s', (_, resources, problem) => {
    const say = () => read({ tea: { redirect_uris: URIS, resources } });
    expect(say).toThrow('CLIENTS is wrong for the app tea: ');
    expect(say).toThrow(problem);
    expect(say).not.toThrow('x.example');
  });

  test('refused: one resource of two sectors, at which a person would be two', () => {
    const two = (sector: string) => ({
      tea: { resources: [MCP], sector: 'houses' },
      wiki: { resources: [MCP], sector },
    });
    expect(() => read(two('wiki'))).toThrow('is wrong for the app wiki: it has a resource of an app of another sector');
    expect(read(two('houses'))?.size).toBe(2);
  });

  test('refused: a file that is missing, no JSON, or cannot be read', () => {
    expect(() => readClients(CONFIG, { read: () => undefined, list: () => [] })).toThrow(
      'CLIENTS names a file that does',
    );
    expect(() => readClients(CONFIG, fileOf('{'))).toThrow(
      'CLIENTS names a file that is not JSON: look for a comma or a quotation mark',
    );
    expect(() => readClients(CONFIG, undefined)).toThrow('CLIENTS needs a host that reads files');
  });
});

describe('secrets of clients', () => {
  const draw = openDraw(SEED);
  const secret = () => createClientSecret((length) => new Uint8Array(draw.bytes(length)));

  test('one is 43 characters, and found by its digest among two', () => {
    const [old, next, wrong] = [secret(), secret(), secret()];
    expect(old).toMatch(/^[\w-]{43}$/);
    const client = { secrets: [secretDigest(old), secretDigest(next)] };
    expect([old, next, wrong, '', secretDigest(old)].map((one) => isSecretOf(client, one))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
