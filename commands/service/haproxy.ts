import { HAPROXY_SOCKET, PROXY_BODY, type ProxyFacts } from './proxy-facts.ts';

/** A whole configuration of HAProxy: TLS, the redirect from http, and the vault's two ports. */
export function haproxyText({
  port,
  host,
  first,
  second,
  clientHeader,
  silenceSeconds,
  certificate,
}: ProxyFacts): string {
  return `# /etc/haproxy/vault.cfg
global
  log /dev/log local0
  chroot /var/lib/haproxy
  # "vault service switch" gives its orders here.
  stats socket ${HAPROXY_SOCKET} mode 660 level admin
  user haproxy
  group haproxy
  ssl-default-bind-options ssl-min-ver TLSv1.2

defaults
  mode http
  log global
  timeout connect 5s
  # A vault that is slow is not down. One that has ended refuses the connection at once.
  timeout check 10s
  timeout http-request 10s
  # Longer than a heartbeat of the stream of events.
  timeout client ${silenceSeconds}s
  timeout server ${silenceSeconds}s

${port === 443 ? redirectText(host) : ''}frontend public
  bind :${port} ssl crt ${certificate ?? '/etc/haproxy/vault.pem'} alpn h2,http/1.1
  log-format "%ci [%tr] %HM %HPO %ST %B %Ta"
  # The vault resolves \\ and dot segments, which rules about paths do not see.
  http-request deny deny_status 400 if { path -m reg -i '\\\\|%5c|%2e|/\\.\\.?(/|$)' }
  http-request deny deny_status 404 if { path -m reg '^/(metrics|console|v1/console)(/|$)' }
  http-request deny deny_status 413 if { req.hdr_val(content-length) gt ${PROXY_BODY.bytes} }
  http-request set-header ${clientHeader} %[src]
  default_backend vaults

backend vaults
  option httpchk GET /healthz
  # A GET that one vault leaves unanswered goes to the other; nothing else is sent twice.
  option redispatch 1
  retry-on conn-failure empty-response
  http-request disable-l7-retry unless METH_GET
  default-server check inter 1s fall 2 rise 1
  server first ${first}
  # Down but during an upgrade.
  server second ${second}
`;
}

function redirectText(host: string): string {
  return `frontend redirect
  bind :80
  log-format "%ci [%tr] %HM %HPO %ST %B %Ta"
  http-request redirect code 308 prefix https://${host}

`;
}
