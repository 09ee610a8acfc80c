import { describe, expect, test } from 'bun:test';
import { readConfig } from '../../../lib/config/config.ts';
import { type Channel, parseIdentifier } from '../../../lib/identity/identifier.ts';
import { createIsReserved } from '../../../lib/identity/reserved-handles.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const reserves = (
  channel: Channel,
  text: string,
  vars: Readonly<Record<string, string>> = {},
  names: readonly string[] = [],
) => createIsReserved({ ...readConfig({ VAULT_SECRET, ...vars }), names })(parseIdentifier(channel, text));

describe('a handle', () => {
  const NAMED =
    `admin administrator root system support help security abuse postmaster webmaster hostmaster noreply no-reply
    mailer-daemon api www mail ftp vault registrar official staff moderator null undefined me you anonymous wallet pay
    enclave console metrics status well-known`.split(/\s+/);

  test.each(NAMED.map((name) => [name]))('%s is reserved, in any case', (name) => {
    expect([reserves('handle', name), reserves('handle', ` ${name.toUpperCase()} `)]).toEqual([true, true]);
  });

  test.each(
    `adm1n a.d.m.i.n a_d-m.i.n 4dm1n r00t he1p h3lp bi11ing b1lling supp0rt 5upp0rt 0fficial v4u17 t35t 6illing m3
    noreply no_reply wellknown mailer.daemon vault-support vaultsupport admin.team vauit vaultt rnoderator vvallet
    suppport suport acount 1oginn adrnin-tearn`
      .split(/\s+/)
      .map((name) => [name]),
  )('%s passes for a reserved one', (name) => {
    expect(reserves('handle', name)).toBe(true);
  });

  test.each(
    `alice admin1 theadmin constructor tostring hasownproperty team-of-nobody james home mia m33 1337 0 10 meyou
    testify helper support-alice mailbox paul adm1ns mee ww bing rot emil milan teahouse`
      .split(/\s+/)
      .map((name) => [name]),
  )('%s is free', (name) => {
    expect(reserves('handle', name)).toBe(false);
  });

  test.each(`teahouse tea tea.house teehouse t3a teahouse-support cafe-noir`.split(' ').map((name) => [name]))(
    '%s passes for the name of the service or of an app',
    (name) => expect(reserves('handle', name, {}, ['Tea House', 'tea', 'Café Noir', '茶'])).toBe(name !== 'teehouse'),
  );

  test('of any spelling is judged in time, however long', () => {
    for (const name of ['1'.repeat(64), 'admin'.repeat(12), 'test1'.repeat(12), `${'test'.repeat(15)}x`]) {
      expect(typeof reserves('handle', name)).toBe('boolean');
    }
  });
});

describe('RESERVED_DOMAINS', () => {
  const vars = { RESERVED_DOMAINS: 'acme.test, EXÄMPLE.test' };

  test.each([
    ['admin@acme.test', true],
    ['Admin@ACME.test', true],
    ['postmaster@exämple.test', true],
    ['postmaster@xn--exmple-cua.test', true],
    ['adm1n@acme.test', true],
    ['no_reply@acme.test', true],
    ['bob@acme.test', false],
    ['admin@mail.acme.test', false],
    ['admin@notacme.test', false],
    ['admin@example.com', false],
  ])('an email is reserved by its local part there only: %s is %p', (email, expected) => {
    expect(reserves('email', email, vars)).toBe(expected);
    expect(reserves('email', email)).toBe(false);
  });
});

describe('RESERVED_IDENTIFIERS', () => {
  const vars = { RESERVED_IDENTIFIERS: ' Acme, CEO@Acme.test ,boss@exämple.test, +1 (415) 555-0100, ' };

  test.each<[Channel, string, boolean]>([
    ['handle', 'acme', true],
    ['handle', 'ACME', true],
    ['handle', 'a.c-m_e', true],
    ['handle', '4cme', true],
    ['email', 'ceo@acme.test', true],
    ['email', 'boss@EXÄMPLE.test', true],
    ['sms', '+14155550100', true],
    ['handle', 'ceo', false],
    ['email', 'acme@acme.test', false],
    ['sms', '+14155550101', false],
  ])('are of any channel and in any spelling: %s %s is %p', (channel, text, expected) => {
    expect(reserves(channel, text, vars)).toBe(expected);
  });
});
