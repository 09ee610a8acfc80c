import { PROXY_BODY, type ProxyFacts, SECOND_SERVES } from './proxy-facts.ts';

/** A file that the Caddyfile imports: the vault's two ports. Caddy gets certificates and redirects from http itself. */
export function caddyText({ host, port, first, second, clientHeader, ...facts }: ProxyFacts): string {
  const site = port === 443 ? host : `${host}:${port}`;
  const { certificate, certificateKey, silenceSeconds } = facts;
  const tls = certificate === undefined ? '' : `\ttls ${[certificate, certificateKey ?? certificate].join(' ')}\n`;
  const proxied = (matcher: string, to: string) => `	reverse_proxy ${matcher}${to} {
		header_up ${clientHeader} {http.request.remote.host}
		transport http {
			dial_timeout 5s
			# Longer than a heartbeat of the stream of events, which Caddy does not buffer.
			read_timeout ${silenceSeconds}s
		}
	}`;
  return `# /etc/caddy/vault.caddyfile
${site} {
${tls}	log {
		output file /var/log/caddy/vault.log
		format filter {
			wrap json
			fields {
				request>uri regexp "\\?.*" ""
			}
		}
	}
	request_body {
		max_size ${PROXY_BODY.caddy}
	}
	# One that says its length is refused before it is read.
	@large header_regexp Content-Length ^(?:1[1-9]\\d{5}|[2-9]\\d{6}|\\d{8,})$
	respond @large 413

	# The vault resolves \\ and dot segments, which rules about paths do not see.
	@odd expression \`{http.request.orig_uri}.matches('(?i)^[^?]*(\\\\\\\\|%5c|%2e|/[.][.]?(/|[?]|$))')\`
	respond @odd 400
	@operator path /metrics /metrics/* /console /console/* /v1/console /v1/console/*
	respond @operator 404

	# "vault service switch" makes and removes this file.
	@second file {
		root ${SECOND_SERVES.slice(0, SECOND_SERVES.lastIndexOf('/'))}
		try_files ${SECOND_SERVES.slice(SECOND_SERVES.lastIndexOf('/'))}
	}
${proxied('@second ', second)}
${proxied('', first)}
}
`;
}
