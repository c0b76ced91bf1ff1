// What sockets a program gets. Each act ends with 0, or with what was asked for.
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MPTCP = 262, PROCESSES = 100, SOCKETS = 20 };

static int protocol(int socket)
{
	int value = -1;
	socklen_t size = sizeof(value);

	getsockopt(socket, SOL_SOCKET, SO_PROTOCOL, &value, &size);
	return value;
}

static int has(int socket, const char *wanted)
{
	char name[16] = "";
	socklen_t size = sizeof(name);

	getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, &size);
	return !strcmp(name, wanted);
}

static int is_controlled(int socket)
{
	return protocol(socket) == MPTCP && has(socket, "pp_lia");
}

// Sockets of TCP, in whichever words, are made; flags hold; others are left alone.
static int kinds(void)
{
	int plain = socket(AF_INET, SOCK_STREAM, 0);
	int six = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	int own = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, MPTCP);

	if (!is_controlled(plain) || !is_controlled(six) || !is_controlled(own))
		return 1;
	if (fcntl(plain, F_GETFD) || fcntl(own, F_GETFD) || fcntl(six, F_GETFD) != FD_CLOEXEC)
		return 2;
	if ((fcntl(plain, F_GETFL) & O_NONBLOCK) || !(fcntl(own, F_GETFL) & O_NONBLOCK))
		return 3;
	if (protocol(socket(AF_INET, SOCK_DGRAM, 0)) != IPPROTO_UDP)
		return 4;
	if (protocol(socket(AF_INET, SOCK_RAW, IPPROTO_TCP)) != IPPROTO_TCP)
		return 5;
	if (socket(AF_UNIX, SOCK_STREAM, 0) < 0 || socket(AF_INET, SOCK_STREAM, 99) >= 0)
		return 6;
	return 42;
}

// Many processes make sockets at once.
static int forks(void)
{
	int status, failed = 0;

	for (int process = 0; process < PROCESSES; process++) {
		if (fork())
			continue;
		for (int made = 0; made < SOCKETS; made++) {
			int one = socket(AF_INET, SOCK_STREAM, 0);

			if (!is_controlled(one) || close(one))
				_exit(1);
		}
		_exit(0);
	}
	while (wait(&status) > 0)
		failed += status != 0;
	return failed;
}

// Whoever makes a socket owns it.
static int owner(void)
{
	struct stat of;

	if (setreuid(65534, 65534) || fstat(socket(AF_INET, SOCK_STREAM, 0), &of))
		return 1;
	return of.st_uid != 65534;
}

// Where no socket can be made for a lack of descriptors, that is said.
static int descriptors(void)
{
	while (socket(AF_INET, SOCK_STREAM, 0) >= 0)
		;
	return errno;
}

// What an address says on which nobody listens.
static int refused(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof(to));
	return errno;
}

// Whether both ends of a connection of TCP have a congestion control that neither has chosen.
static int accepted(const char *wanted)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in at = { .sin_family = AF_INET };
	struct sockaddr *address = (struct sockaddr *)&at;
	socklen_t size = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, address, size) || listen(listener, 1))
		return 2;
	if (getsockname(listener, address, &size) || connect(client, address, size))
		return 3;
	return !has(client, wanted) || !has(accept(listener, NULL, NULL), wanted);
}

int main(int count, char **words)
{
	const char *act = count > 1 ? words[1] : "";

	if (!strcmp(act, "kinds"))
		return kinds();
	if (!strcmp(act, "forks"))
		return forks();
	if (!strcmp(act, "owner"))
		return owner();
	if (!strcmp(act, "descriptors"))
		return descriptors();
	if (!strcmp(act, "refused"))
		return refused();
	if (!strcmp(act, "accepted"))
		return accepted(count > 2 ? words[2] : "");
	if (!strcmp(act, "protocol"))
		return protocol(socket(AF_INET, SOCK_STREAM, 0));
	return 99;
}
