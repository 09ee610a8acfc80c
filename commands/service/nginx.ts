import { PROXY_BODY, type ProxyFacts, SECOND_SERVES } from './proxy-facts.ts';

/** A file of nginx's `conf.d`: TLS, the redirect from http, and the vault's two ports. */
export function nginxText(facts: ProxyFacts): string {
  const { host, port, first, second, clientHeader, silenceSeconds } = facts;
  const certificate = facts.certificate ?? `/etc/letsencrypt/live/${host}/fullchain.pem`;
  const key = facts.certificateKey ?? `/etc/letsencrypt/live/${host}/privkey.pem`;
  return `# /etc/nginx/conf.d/vault.conf
log_format vault '$remote_addr [$time_iso8601] $request_method $uri $status $body_bytes_sent $request_time';

upstream vault_first { server ${first} max_fails=0; }
upstream vault_second { server ${second} max_fails=0; }

server {
  listen ${port} ssl http2;
  listen [::]:${port} ssl http2;
  server_name ${host};
  ssl_certificate ${certificate};
  ssl_certificate_key ${key};
  ssl_protocols TLSv1.2 TLSv1.3;
  access_log /var/log/nginx/vault.log vault;
  # At other levels its lines contain the whole request.
  error_log /var/log/nginx/vault-error.log crit;
  client_max_body_size ${PROXY_BODY.nginx};

  # The vault resolves \\ and dot segments, which rules about paths do not see.
  if ($request_uri ~* "^[^?]*(\\x5c|%5c|%2e|/\\.\\.?(/|\\?|$))") { return 400; }
  location ~ ^/(metrics|console|v1/console)(/|$) { return 404; }

  # "vault service switch" makes and removes this file: nginx needs no reload, which would end idle connections.
  set $vault vault_first;
  if (-f ${SECOND_SERVES}) { set $vault vault_second; }

  location / {
    proxy_pass http://$vault;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $host;
    proxy_set_header ${clientHeader} $remote_addr;
    proxy_connect_timeout 5s;
    proxy_send_timeout ${silenceSeconds}s;
    # Longer than a heartbeat of the stream of events. The vault turns buffering off for that stream.
    proxy_read_timeout ${silenceSeconds}s;
  }
}

${port === 443 ? redirectText(host) : ''}`
    .trimEnd()
    .concat('\n');
}

function redirectText(host: string): string {
  return `server {
  listen 80;
  listen [::]:80;
  server_name ${host};
  access_log /var/log/nginx/vault.log vault;
  # For certificates of Let's Encrypt.
  location /.well-known/acme-challenge/ { root /var/www/html; }
  location / { return 308 https://${host}$request_uri; }
}
`;
}
