import { describe, expect, test } from 'bun:test';
import { readConfig } from '../../../lib/config/config.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const VARS = {
  VAULT_SECRET,
  OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
  BASE_URL: 'http://localhost:8080',
  APPS: 'tea,books',
  REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey,
};
const read = (value: string, vars: Record<string, string> = {}) =>
  readConfig({ ...VARS, REGISTER_REDIRECTS: value, ...vars }).registerRedirects;

describe('REGISTER_REDIRECTS', () => {
  test('apps with their exact URIs, each app with several', () => {
    const value = 'tea=https://tea.example/back?from=vault, books=http://localhost:4001/in,tea=http://127.0.0.1:1/';
    expect(read(value)).toEqual([
      { app: 'tea', uri: 'https://tea.example/back?from=vault' },
      { app: 'books', uri: 'http://localhost:4001/in' },
      { app: 'tea', uri: 'http://127.0.0.1:1/' },
    ]);
  });

  test.each([
    ['no URI', 'tea'],
    ['no app', 'https://tea.example/back'],
    ['plain http', 'tea=http://tea.example/back'],
    ['a fragment', 'tea=https://tea.example/back#in'],
    ['an empty fragment', 'tea=https://tea.example/back#'],
    ['a user', 'tea=https://me@tea.example/back'],
    ['an empty user', 'tea=https://@tea.example/back'],
    ['the default port', 'tea=https://tea.example:443/back'],
    ['no path', 'tea=https://tea.example'],
    ['capitals in the host', 'tea=https://Tea.example/back'],
    ['a dot segment', 'tea=https://tea.example/x/../back'],
    ['a backslash', 'tea=https://tea.example\\back'],
    ['a scheme of an app', 'tea=com.example.tea:/back'],
    ['a script', 'tea=javascript:alert(1)'],
    ['a parameter of the answer', 'tea=https://tea.example/back?state=1'],
  ])('refused: %s', (_, value) => {
    expect(() => read(value)).toThrow(/REGISTER_REDIRECTS must be a comma list of app=https/);
  });

  test('refused: an app that is not in APPS, and a vault that cannot register anybody', () => {
    expect(() => read('shop=https://shop.example/')).toThrow(/REGISTER_REDIRECTS names an app that is not in APPS/);
    expect(() => read('tea=https://tea.example/', { REGISTRAR_PRIVATE_KEY: '' })).toThrow(
      /REGISTRAR_PRIVATE_KEY must be set when REGISTER_REDIRECTS is/,
    );
  });
});
