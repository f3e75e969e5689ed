# SPDX-License-Identifier: GPL-2.0-or-later
# cygnetd confined by the profile of its package, for testing/deb: in a machine with Debian's kernel
# (testing/guest), as the kernel here may have no AppArmor. Sourced after deb-gateways.sh.

# Kernel modules for ports, their isolation from the kernel, and TAPs, from the package of the guest's kernel: the guest's image lacks them.
guest_modules() {
	local kernel there
	kernel=$(file -b "$guest_image/vmlinuz" | sed -n 's/.*version \([^ ]*\).*/\1/p')
	there=${CYGNET_CACHE:-/var/cache/cygnet}/guest-modules/$kernel
	if [ ! -e "$there/veth.ko" ]; then
		(cd "$work" && apt-get -q -o APT::Sandbox::User=root download "linux-image-$kernel") || return
		dpkg-deb -x "$work/linux-image-$kernel"_*.deb "$work/kernel"
		mkdir -p "$there"
		(cd "$work/kernel/lib/modules/$kernel/kernel" &&
			cp drivers/net/{veth,tun}.ko lib/libcrc32c.ko net/netfilter/{nfnetlink,nf_tables}.ko "$there/")
	fi
	cp "$there"/*.ko "$1"
}

# The script that the virtual machine runs as its init.
machine_check() {
	cat <<-'END'
		#!/bin/sh
		export PATH=/bin:/sbin:/usr/bin:/usr/sbin
		mount -t proc proc /proc
		mount -t sysfs sysfs /sys
		mount -t devtmpfs dev /dev
		mount -t tmpfs tmpfs /run
		mount -t securityfs securityfs /sys/kernel/security
		exec < /dev/null > /dev/console 2>&1
		# The guest's own libraries may be those of an older release.
		rm -r /lib/x86_64-linux-gnu
		ln -s /usr/lib/x86_64-linux-gnu /lib/x86_64-linux-gnu
		echo 224 > /proc/sys/vm/nr_hugepages
		for module in tun veth libcrc32c nfnetlink nf_tables; do insmod /$module.ko; done
		# busybox names one end only.
		for port in wan lan; do ip link add $port-veth type veth; done
		for interface in /sys/class/net/*; do ip link set "${interface##*/}" up; done
		echo "enabled: $(cat /sys/module/apparmor/parameters/enabled)"
		dd if=/profile of=/sys/kernel/security/apparmor/.load bs=4M 2> /dev/null
		mkdir -p /run/cygnet /var/lib/cygnet /var/cache/cygnetd
		dmesg -c > /dev/null
		# try DRIVER ENGINE: as root starts it by hand, a reload, and its end. OpenCL compiles for some minutes.
		try() {
			sed -i "s/net_af_[a-z]*/$1/; s/^engine = .*/engine = $2/" /etc/cygnet/cygnetd.conf
			XDG_CACHE_HOME=/var/cache/cygnetd /usr/sbin/cygnetd > /run/cygnetd.log 2>&1 &
			for i in $(seq 9000); do
				grep -qs 'cygnetd: ready' /run/cygnetd.log && break
				[ -d /proc/$! ] || break
				usleep 100000
			done
			kill -HUP $!
			echo "$1 $2: confined: $(cat /proc/$!/attr/current 2> /dev/null || echo gone)"
			echo "$1 $2: user: $(grep Uid: /proc/$!/status)"
			/usr/bin/cygnetctl show ports | sed "s/^/$1 $2: ports: /"
			/usr/bin/cygnetctl show engines | sed "s/^/$1 $2: engines: /"
			kill $!
			wait $!
			echo "$1 $2: exit status $?"
			sed "s/^/$1 $2: log: /" /run/cygnetd.log
			dmesg -c | grep apparmor=
		}
		try net_af_packet cpu
		try net_af_xdp cpu
		try net_af_packet opencl
		echo end
		poweroff -f
	END
}

# The files of cygnetd, its drivers and their libraries, and of PoCL with its compiler, from a root with the packages.
machine_tree() {
	mkdir "$1"
	make_gateway_root confined pocl-opencl-icd
	in_root "$release" confined --mount "$packages/first" /build/cygnet --mount "$1" /tree sh -e -c '
		dpkg -i $(find /build/cygnet -name "*.deb" ! -name "*-dbgsym_*") > /tree/dpkg.log
		apparmor_parser --skip-cache --skip-kernel-load --ofile /tree/profile /etc/apparmor.d/usr.sbin.cygnetd
		set -- /usr/sbin/cygnetd /usr/bin/cygnetctl /usr/lib/*/dpdk/pmds-*/*.so* /usr/lib/*/cygnet/*.so /usr/lib/*/ossl-modules/*.so \
			$(dpkg-query -W -f "\${db:Status-Abbrev}\${binary:Package}\n" "libxdp*" "*pocl*" "*clang*" "libllvm*" "*binutils*" "libgcc-*-dev" \
				libc6-dev | sed -n "s/^ii *//p" | xargs dpkg -L | grep "^/usr/\(bin\|lib\|share/pocl\)/\|^/etc/OpenCL/")
		{
			for file; do [ -d "$file" ] || echo "$file"; done
			ldd "$@" 2> /dev/null | sed -n "s/.*=> \(\/[^ ]*\).*/\1/p; s/^\t\(\/lib[^ ]*\) .*/\1/p"
		} | sort -u | while read -r file; do
			# Keep symbolic links: DPDK would load a driver twice that is there twice. /lib is a folder in the initrd.
			while :; do
				case $file in
				*/ld-linux*) mkdir -p /tree/usr/lib64; cp -L "$file" /tree/usr/lib64/; break ;;
				/lib*) file=/usr$file ;;
				esac
				[ -e "$file" ] || [ -L "$file" ] || break # a link to a package that is not there
				mkdir -p "/tree$(dirname "$file")"
				cp -P "$file" "/tree$file"
				[ -L "$file" ] || break
				file=$(cd "$(dirname "$file")" && realpath -s "$(readlink "$file")")
			done
		done'
	mkdir -p "$1/etc/cygnet"
	cat > "$1/etc/cygnet/cygnetd.conf" <<-END
		[cygnetd]
		engine = cpu
		idle = sleep
		user = 64199
		telemetry_group = 64198
		[port wan]
		device = net_af_packet0,iface=wan-veth
		[port lan]
		device = net_af_packet1,iface=lan-veth
	END
	machine_check > "$1/check"
	chmod 755 "$1/check"
}

run_confined() {
	machine_tree "$work/tree"
	guest_modules "$work/tree"
	{ cat "$guest_image/initrd"; (cd "$work/tree" && find . | cpio --quiet -o -H newc); } > "$work/initrd"
	timeout -k 5 "$(scaled 900)" qemu-system-x86_64 -nodefaults -no-user-config -no-reboot -display none \
		-serial stdio -accel tcg -cpu Westmere,+rdrand -smp 1,maxcpus=2 -m 4096 \
		-kernel "$guest_image/vmlinuz" -initrd "$work/initrd" \
		-append "console=ttyS0 quiet panic=-1 rootfstype=ramfs no_timer_check cryptomgr.notests \
apparmor=1 security=apparmor rdinit=/check" < /dev/null | tr -d '\r' > "$work/confined.log"
	cat "$work/confined.log"
	grep -qx end "$work/confined.log"
}

try_apparmor() {
	local what
	must "cygnetd runs in a machine with AppArmor" run_confined
	check "AppArmor is enabled in it" grep '^enabled: Y' "$work/confined.log"
	for what in "net_af_packet cpu" "net_af_xdp cpu" "net_af_packet opencl"; do
		check "$what: cygnetd is confined" grep "^$what: confined: cygnetd (enforce)" "$work/confined.log"
		check "$what: it is another user" grep "^$what: user: Uid:.64199" "$work/confined.log"
		check "$what: it has its ports" grep "^$what: ports: .*wan" "$work/confined.log"
		check "$what: it has a crypto device" grep "^$what: engines: .*${what#* }" "$work/confined.log"
		check "$what: it has read its configuration again" grep "^$what: log: .*: reloaded" "$work/confined.log"
		check "$what: it ends well" grep "^$what: exit status 0" "$work/confined.log"
	done
	check "nothing is denied" lacks_line "$work/confined.log" 'apparmor="DENIED"'
}
