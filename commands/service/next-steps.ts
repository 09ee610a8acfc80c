import type { ProxyName } from './proxy-facts.ts';
import type { UnitOptions } from './unit.ts';

interface Installed {
  readonly unit: UnitOptions;
  readonly proxy: ProxyName | undefined;
  readonly secondPort: number;
  /** Where its unit puts backups. */
  readonly backupTo: string | undefined;
  /** Whether the settings were written just now, and nobody has answered what `vault init` asks. */
  readonly isNew: boolean;
}

/** The commands to run after the files are written, a line each. */
export function nextSteps({ unit, proxy, secondPort, backupTo, isNew }: Installed): string {
  const { configFile, user, program } = unit;
  return [
    'systemd-sysusers /etc/sysusers.d/vault.conf',
    'systemd-tmpfiles --create /etc/tmpfiles.d/vault.conf',
    ...(isNew ? [`${program} init --config ${configFile}`] : []),
    `runuser -u ${user} -- ${program} doctor --config ${configFile}`,
    'systemctl daemon-reload',
    'systemctl enable --now vault.service',
    ...(backupTo === undefined ? [] : backupSteps(user, backupTo)),
    ...(proxy === undefined ? [] : PROXY_STEPS[proxy]),
    `# Upgrades without a pause use the second port, ${secondPort}: see docs/operating.md, "Upgrading".`,
  ]
    .map((line) => `  ${line}`)
    .join('\n');
}

function backupSteps(user: string, place: string): readonly string[] {
  const folder = place.startsWith('/') ? [`install -d -m 700 -o ${user} -g ${user} ${place}`] : [];
  return [...folder, 'systemctl enable --now vault-backup.service'];
}

const PROXY_STEPS: Readonly<Record<ProxyName, readonly string[]>> = {
  nginx: ['nginx -t && systemctl reload nginx'],
  caddy: [
    "grep -q vault.caddyfile /etc/caddy/Caddyfile || echo 'import vault.caddyfile' >> /etc/caddy/Caddyfile",
    'caddy validate --config /etc/caddy/Caddyfile && systemctl reload caddy',
  ],
  haproxy: [
    "grep -q ^CONFIG= /etc/default/haproxy || echo 'CONFIG=/etc/haproxy/vault.cfg' >> /etc/default/haproxy",
    'haproxy -c -f /etc/haproxy/vault.cfg && systemctl restart haproxy',
  ],
};
