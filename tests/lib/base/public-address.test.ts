import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isPublicAddress, isPublicHost } from '../../../lib/base/public-address.ts';
import { always } from '../../support/property.ts';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '192.167.0.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450:4001::1',
];

const PRIVATE: readonly [string, string][] = [
  ['this network', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['private', '10.0.0.1'],
  ['private', '172.16.0.1'],
  ['private', '172.31.255.255'],
  ['private', '192.168.1.1'],
  ['shared (CGNAT)', '100.64.0.1'],
  ['metadata of Alibaba', '100.100.100.200'],
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.255.254'],
  ['link-local', '169.254.0.1'],
  ['metadata of AWS, GCP, Azure', '169.254.169.254'],
  ['metadata of Oracle', '192.0.0.192'],
  ['metadata of Azure', '168.63.129.16'],
  ['documentation', '192.0.2.1'],
  ['documentation', '198.51.100.1'],
  ['documentation', '203.0.113.1'],
  ['6to4 relay', '192.88.99.1'],
  ['benchmarks', '198.19.0.1'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['IPv4-mapped', '::ffff:127.0.0.1'],
  ['IPv4-mapped in hex', '::ffff:a9fe:a9fe'],
  ['IPv4-compatible', '::127.0.0.1'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['NAT64', '64:ff9b::169.254.169.254'],
  ['local NAT64', '64:ff9b:1::1'],
  ['discard', '100::1'],
  ['Teredo', '2001:0:7f00:1::'],
  ['ORCHID', '2001:20::1'],
  ['documentation', '2001:db8::1'],
  ['documentation', '3fff::1'],
  ['6to4', '2002:7f00:1::'],
  ['unique local', 'fd00::1'],
  ['metadata of AWS', 'fd00:ec2::254'],
  ['link-local', 'fe80::1'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['a zone', 'fe80::1%eth0'],
  ['no address', 'localhost'],
  ['no address', ''],
  ['octal', '0177.0.0.1'],
];

describe('addresses', () => {
  test.each(PUBLIC)('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each(PRIVATE)('%s: %s is not', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test('an IPv4 address is judged the same in its mapped form', () => {
    always(fc.ipV4(), (address) => {
      expect(isPublicAddress(`::ffff:${address}`)).toBe(isPublicAddress(address));
    });
  });
});

describe('hosts of URLs', () => {
  const hostOf = (url: string) => new URL(url).hostname;

  test.each(['https://hooks.example.com', 'https://1.1.1.1', 'https://[2606:4700::1111]/', 'https://münchen.de'])(
    '%s is public',
    (url) => {
      expect(isPublicHost(hostOf(url))).toBe(true);
    },
  );

  test.each([
    'https://localhost',
    'https://LOCALHOST.',
    'https://a.localhost',
    'https://redis',
    'https://printer.local',
    'https://metadata.google.internal',
    'https://metadata.google.internal.',
    'https://router.home.arpa',
    'https://127.1',
    'https://2130706433',
    'https://0x7f000001',
    'https://0177.0.0.1',
    'https://127.0.0.1.',
    'https://１２７.0.0.1',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://169.254.169.254',
  ])('%s is not', (url) => {
    expect(isPublicHost(hostOf(url))).toBe(false);
  });
});
