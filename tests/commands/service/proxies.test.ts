import { expect, test } from 'bun:test';
import { caddyText } from '../../../commands/service/caddy.ts';
import { haproxyText } from '../../../commands/service/haproxy.ts';
import { nginxText } from '../../../commands/service/nginx.ts';
import { readProxyFacts } from '../../../commands/service/proxy-facts.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { exampleOf } from '../../support/proxies.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const config = (vars = {}) =>
  readConfig({
    BASE_URL: 'https://vault.example.com',
    TRUSTED_PROXIES: '127.0.0.1/32',
    ALLOW_LOG_DELIVERY: 'true',
    VAULT_SECRET,
    ...vars,
  });
const facts = (vars = {}) => readProxyFacts(config(vars), { secondPort: 8788 });

test.each([
  ['nginx', nginxText],
  ['caddyfile', caddyText],
  ['haproxy', haproxyText],
] as const)("docs/proxies.md's %s is what the command writes", (language, print) => {
  expect(exampleOf(language)).toBe(print(facts()));
});

test('streams stay open with a heartbeat that is longer than usual', () => {
  const slow = facts({ STREAM_HEARTBEAT_SECONDS: '120' });
  expect(nginxText(slow)).toContain('proxy_read_timeout 250s;');
  expect(caddyText(slow)).toContain('read_timeout 250s');
  expect(haproxyText(slow)).toContain('timeout server 250s');
});

test('another public port has no redirect from http', () => {
  const other = facts({ BASE_URL: 'https://vault.example.com:8443' });
  expect(nginxText(other)).toContain('listen 8443 ssl http2;');
  expect(nginxText(other)).not.toContain('listen 80;');
  expect(haproxyText(other)).not.toContain('bind :80\n');
  expect(caddyText(other)).toContain('vault.example.com:8443 {');
});
