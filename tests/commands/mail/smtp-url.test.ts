import { describe, expect, test } from 'bun:test';
import { parseSmtpUrl } from '../../../commands/mail/smtp-url.ts';

describe('a server elsewhere', () => {
  test.each([
    'mail.example.com',
    '192.0.2.1',
    '[2001:db8::1]',
    'localhost.example.com',
    'localhost.',
    '127.1',
    '127.0.0.1.example.com',
  ])('must offer STARTTLS: %s', (host) => {
    expect(parseSmtpUrl(`smtp://${host}`)).toMatchObject({
      port: 587,
      secure: false,
      requireTLS: true,
      tls: { rejectUnauthorized: true },
    });
  });

  test('may be used without STARTTLS when the URL says so, and its certificate counts all the same', () => {
    expect(parseSmtpUrl('smtp://mailpit:1025?tls=optional')).toMatchObject({
      host: 'mailpit',
      port: 1025,
      requireTLS: false,
      tls: { rejectUnauthorized: true },
    });
  });

  test('must have a certificate that holds', () => {
    expect(() => parseSmtpUrl('smtps://mail.example.com?verify=off')).toThrow(
      'verify=off only for a server on loopback',
    );
  });
});

describe('a server on loopback', () => {
  test.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.8.8.8', '[::1]'])('may do without STARTTLS: %s', (host) => {
    expect(parseSmtpUrl(`smtp://${host}:25`)).toMatchObject({ port: 25, requireTLS: false });
    expect(parseSmtpUrl(`smtp://${host}:25?tls=required`).requireTLS).toBe(true);
    expect(parseSmtpUrl(`smtp://${host}:25?verify=off`).tls.rejectUnauthorized).toBe(false);
  });
});

test('smtps: is TLS from the first byte', () => {
  expect(parseSmtpUrl('smtps://mail.example.com')).toMatchObject({ port: 465, secure: true, requireTLS: false });
  expect(parseSmtpUrl('smtps://[2001:db8::1]:2465')).toMatchObject({ host: '2001:db8::1', port: 2465 });
});

test('credentials are percent-decoded', () => {
  expect(parseSmtpUrl('smtp://vault%40example.com:p%2Fss%3A%23@mail.example.com').auth).toEqual({
    user: 'vault@example.com',
    pass: 'p/ss:#',
  });
  expect(parseSmtpUrl('smtp://mail.example.com/')).not.toHaveProperty('auth');
});

test.each([
  ['', 'is not a URL'],
  ['smtp://user:S3cr3t/x@mail.example.com', 'is not a URL'],
  ['http://user:S3cr3t@mail.example.com', 'must start with smtp://'],
  ['smtp:mail.example.com', 'must name a host'],
  ['smtp:///S3cr3t', 'must name a host'],
  ['smtp://mail.example.com/S3cr3t', 'must name a host'],
  ['smtp://mail.example.com/#S3cr3t', 'must name a host'],
  ['smtp://user@mail.example.com', 'both a user and a password'],
  ['smtp://:S3cr3t@mail.example.com', 'both a user and a password'],
  ['smtp://user:S3cr3t%@mail.example.com', 'malformed percent-encoding'],
  ['smtp://mail.example.com?tls=S3cr3t', 'a parameter other than'],
  ['smtp://mail.example.com?TLS=optional', 'a parameter other than'],
  ['smtp://mail.example.com?ignoreTLS=true', 'a parameter other than'],
  ['smtp://mail.example.com?tls.rejectUnauthorized=false', 'a parameter other than'],
  ['smtp://mail.example.com?__proto__=optional', 'a parameter other than'],
  ['smtp://mail.example.com?tls=required&tls=optional', 'a parameter twice'],
  ['smtps://mail.example.com?tls=optional', 'always encrypts'],
])('%s is refused without being quoted', (url, fault) => {
  let message = '';
  try {
    parseSmtpUrl(url);
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toStartWith('SMTP_URL ');
  expect(message).toContain(fault);
  expect(message).not.toContain('S3cr3t');
});
